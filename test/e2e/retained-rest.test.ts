import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { parley } from './house-command.ts'
import { recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const DAY = 86_400_000
const CANARY = 'zq9canary-4711'
const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

/** What is older than ten days is forgotten. */
async function house() {
  const clock = setClock('2026-11-01T08:00:00Z')
  const home = await startHousehold({ script, streaming: false, clock, config: { retention: { days: 10, rules: [] } } })
  const { world, ledger } = home.telegram
  const say = async (text: string, extra: Readonly<Record<string, unknown>> = {}): Promise<number> => {
    const after = ledger.mark()
    const { message_id: id } = world.say({ from: 111, text, extra })
    await ledger.nextFromBot('sent', { after, where: ({ text: said }) => said.startsWith('heard ') })
    await recorded(home)
    return id
  }
  const run = async (): Promise<void> => {
    expect((await parley(home.config, ['retention', 'run'])).code).toBe(0)
  }
  const holding = (): readonly string[] =>
    readdirSync(home.dataDir, { recursive: true, encoding: 'utf8' }).filter((name) => {
      const path = join(home.dataDir, name)
      return statSync(path).isFile() && readFileSync(path).includes(CANARY)
    })
  return { home, clock, world, say, run, holding }
}

it('S41: lists of sessions show nothing of the last answer once it is too old', async () => {
  const { home, clock, say, run, holding } = await house()
  await say(`my code is ${CANARY}`)
  await home.daemon.operator.sessions.post('cli:desk', { text: 'young words' })
  clock.skip(11 * DAY)
  await home.daemon.operator.sessions.post('cli:desk', { text: 'young words' })
  await recorded(home)
  await run()
  const { sessions } = await home.daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })
  expect(sessions.map(({ preview }) => preview).sort()).toEqual(['', 'heard young words'])
  expect(holding()).toEqual([])
})

it('S41: a message that was edited days later goes with its edit', async () => {
  const { clock, world, say, run, holding } = await house()
  const id = await say('soon another text')
  clock.skip(3 * DAY)
  world.edit({ chat: 111, message: id, text: `my code is ${CANARY}` })
  await say('go on')
  clock.skip(8 * DAY)
  await run()
  expect(holding()).not.toEqual([])
  clock.skip(3 * DAY)
  await run()
  expect(holding()).toEqual([])
})

it('S41: a file goes with the message that brought it', async () => {
  const { home, clock, say, run, holding } = await house()
  const file = { as: 'document', name: 'note.txt', bytes: Buffer.from(`inside: ${CANARY}`), caption: 'look' } as const
  await say('', fileFields(home.telegram.world, file))
  expect(holding().some((name) => name.startsWith('media'))).toBe(true)
  clock.skip(11 * DAY)
  await run()
  expect(holding()).toEqual([])
})
