import { expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { ChatCommand } from '../../../src/core/command.ts'
import { deferred } from '../../../src/core/deferred.ts'
import { ParleyError } from '../../../src/core/errors.ts'
import type { InboxId } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { InboxOutcome } from '../../../src/core/turn-end.ts'
import { createCommandRunner } from '../../../src/sessions/commands/command-runner.ts'
import { createRunningTurns } from '../../../src/sessions/turns/running-turns.ts'
import type { Store, StoreWriter } from '../../../src/store/store.ts'
import { command, direct, dispatchOf, user } from '../../fakes/dispatch.ts'
import { nobodyParted } from '../../fakes/parting.ts'

const COMMANDS: Readonly<Record<string, ChatCommand>> = {
  whoami: { name: 'whoami', description: '', who: 'anyone', run: async () => 'You are nobody.' },
  start: {
    name: 'start',
    description: '',
    args: 'the code',
    who: 'anyone',
    open: true,
    run: async ({ args }) => {
      if (args === 'right') return 'You are my owner now.'
      throw new ParleyError('forbidden', 'No.')
    },
  },
}

/** What is said to somebody while an account is crowded, and what became of their command; `store` throws for the store. */
async function ask(
  name: string,
  args: string,
  asker: object,
  { commands = COMMANDS, store = () => {} }: { commands?: typeof COMMANDS; store?: () => void } = {},
): Promise<{ said: string[]; outcome: unknown }> {
  const said: string[] = []
  const dispatch = dispatchOf(command(name, { args, address: direct('9'), sender: user('9') }))
  const decision = { kind: 'control', command: name, identity: { role: 'guest' }, trace: [], ...asker }
  const settled = deferred()
  let outcome: InboxOutcome | undefined
  const set = (settledAs: InboxOutcome): void => {
    outcome = settledAs
    settled.resolve()
  }
  const tx = {
    inbox: { settle: async (_: InboxId, as: InboxOutcome) => set(as) },
  } as unknown as StoreWriter
  const runner = createCommandRunner({
    parting: nobodyParted,
    store: {
      read: { inbox: { get: async () => ({ id: 'in_1', dispatch, decision }) } },
      write: async (body: (tx: StoreWriter) => Promise<unknown>) => {
        store()
        return body(tx)
      },
    } as unknown as Store,
    logger: silentLogger,
    running: createRunningTurns(systemClock, silentLogger),
    say: async ({ text }, when) => {
      store()
      said.push(text)
      await when(tx)
    },
    commands: new Map(Object.entries(commands)),
    crowded: () => true,
  })
  runner.run('in_1' as InboxId)
  await settled.promise
  return { outcome, said }
}

it('where too much waits for strangers, a command of one is done and its answer left unsaid', async () => {
  expect(await ask('whoami', '', { public: true })).toEqual({ said: [], outcome: 'unanswered: public_full' })
  expect(await ask('start', 'wrong', { public: true })).toEqual({ said: [], outcome: 'unanswered: public_full' })
})

it('whoever is known is answered all the same, and whoever has just shown a code that is good', async () => {
  const answered = { said: ['You are nobody.'], outcome: 'control' }
  expect(await ask('whoami', '', {})).toEqual(answered)
  expect(await ask('whoami', '', { identity: { role: 'owner' } })).toEqual(answered)
  expect(await ask('start', 'right', { public: true })).toMatchObject({ said: ['You are my owner now.'] })
})

it('F-F01: a command whose answer the disk has no room for runs once, and is answered once there is some', async () => {
  let [runs, failures] = [0, 2]
  const commands: typeof COMMANDS = {
    title: { name: 'title', description: '', who: 'anyone', run: async () => `Title ${++runs}.` },
    quiet: { name: 'quiet', description: '', who: 'anyone', run: async () => null },
  }
  const store = (): void => {
    if (failures-- > 0) throw new ParleyError('unavailable', 'the disk of the database is full; free some space')
  }
  const asker = { identity: { role: 'owner' } }
  expect(await ask('title', '', asker, { commands, store })).toEqual({ said: ['Title 1.'], outcome: 'control' })
  failures = 1
  expect(await ask('quiet', '', asker, { commands, store })).toEqual({ said: [], outcome: 'control' })
})
