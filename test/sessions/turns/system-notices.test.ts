import { expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Decision } from '../../../src/core/dispatch.ts'
import { type InboxId, toAccountId } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { createSystemNotices } from '../../../src/sessions/turns/system-notices.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { dispatchOf, group, message, user } from '../../fakes/dispatch.ts'

const INBOX = 'in_1' as InboxId
const said = (id: string, account = 'default') =>
  dispatchOf(message({ address: group('-100', { account: toAccountId(account) }), sender: user(id) }))
const run = (changes: object) =>
  ({ kind: 'run', identity: { role: 'guest' }, trace: [], ...changes }) as unknown as Decision
const STRANGER = run({ public: true })
const MEMBER = run({ identity: { role: 'member' } })

/** What is said of a full queue, as the store's `once` has it. */
async function tell(
  crowded: boolean,
  calls: readonly (readonly [string, Decision, account?: string])[],
): Promise<readonly string[]> {
  const told: string[] = []
  const keys = new Set<string>()
  const once = async (key: string) => keys.size < keys.add(key).size
  const tx = { notices: { once } } as unknown as StoreWriter
  const systemNotices = createSystemNotices({
    clock: systemClock,
    logger: silentLogger,
    say: () => expect.unreachable(),
    plan: async (_, { lowPriority }) => void told.push(lowPriority?.supersedes ?? ''),
    admissions: { refused() {} },
    crowded: () => crowded,
  })
  const full = { kind: 'full', inboxId: INBOX } as const
  for (const [id, decision, account] of calls)
    await systemNotices.unanswered(tx, full, { dispatch: said(id, account), decision })
  return told
}

it('whoever is known is told that a queue is full, however much waits for strangers', async () => {
  expect(await tell(true, [['444', MEMBER]])).toEqual(['telegram:444'])
  expect(await tell(true, [['9', STRANGER]])).toEqual([])
})

it('a line to strangers takes the place of none to whoever is known', async () => {
  const calls = [
    ['8', STRANGER],
    ['9', STRANGER],
    ['444', MEMBER],
    ['555', MEMBER],
  ] as const
  expect(await tell(false, calls)).toEqual(['telegram:8', 'telegram:444'])
})

it('a line in a chat with one bot takes the place of none in the chat of the same id with another', async () => {
  const calls = [
    ['444', MEMBER],
    ['444', MEMBER, 'second'],
    ['444', MEMBER, 'second'],
  ] as const
  expect(await tell(false, calls)).toEqual(['telegram:444', 'telegram:444'])
})

const REFUSED = { kind: 'refuse', reason: 'stranger', trace: [] } as unknown as Decision

/** The texts that are said of what was refused in a direct chat. */
function refused(event: object, { crowded = false, decision = REFUSED, posted = false } = {}): readonly string[] {
  const said: string[] = []
  const systemNotices = createSystemNotices({
    clock: systemClock,
    logger: silentLogger,
    say: async ({ text }) => void said.push(text),
    plan: async () => expect.unreachable(),
    admissions: { refused() {} },
    crowded: () => crowded,
  })
  const of = { ...message({ address: group('9', { chatType: 'direct' }), sender: user('9') }), ...event }
  const dispatch = { ...dispatchOf(of as never), ...(posted && { posted: { session: 's' } }) }
  systemNotices.done(INBOX, dispatch as never, decision)
  return said
}

it('a person who writes to the agent is told of a refusal, and no bot, no reaction and no text of another session', () => {
  expect(refused({})).toHaveLength(1)
  expect(refused({ kind: 'command', name: 'start', args: '' })).toHaveLength(1)
  expect(refused({ sender: user('9', { kind: 'bot' }) })).toEqual([])
  expect(refused({ kind: 'reaction' })).toEqual([])
  expect(refused({}, { posted: true })).toEqual([])
  expect(refused({}, { crowded: true })).toEqual([])
})

it('a press or a command by the menu is refused each time, unless too many lines wait', () => {
  const pressed = { kind: 'command', name: 'approve', args: '', answerBy: 'handle' }
  const decision = { kind: 'ignore', reason: 'command_for_owner', trace: [] } as unknown as Decision
  expect(refused(pressed, { decision })).toEqual(['Only my owner may do that.'])
  expect(refused(pressed, { decision, crowded: true })).toEqual([])
  const access = { kind: 'refuse', reason: 'access', trace: [] } as unknown as Decision
  expect(refused(pressed, { decision: access })).toEqual(['Only my owner may do that.'])
  expect(refused({ ...pressed, answerBy: undefined }, { decision: access })).toEqual([])
})
