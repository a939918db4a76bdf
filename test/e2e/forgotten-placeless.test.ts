import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { parley } from './house-command.ts'
import { recorded } from './household.ts'
import { toolResult } from './obedient.ts'
import { setClock } from './set-clock.ts'

const MARK = 'zq9canary-4711'

it('S41: the conversation of a schedule that is forgotten takes nothing else of the chat to which it delivers', async () => {
  const clock = setClock('2026-11-01T08:00:00Z')
  const timing = { cron: '0 9 * * *', timezone: 'Etc/UTC', missed: { kind: 'once' }, overlap: 'skip' } as const
  const definition = { ...timing, prompt: 'Say it.', deliverTo: parseAddress('telegram:direct:111') }
  const script: Script = (request) => textReply(lastUserText(request).includes('Say it') ? `it is ${MARK}` : 'fine')
  const schedules = [{ id: toScheduleId('morning'), definition }]
  const { home, ledger, say, prompt } = await forgettingHouse({ script, clock, schedules: () => schedules })
  await say('the bin goes out')
  const after = ledger.mark()
  clock.set('2026-11-01T09:00:10Z')
  await ledger.nextFromBot('sent', { after, where: ({ text }) => text === `it is ${MARK}` })
  await recorded(home)
  await home.daemon.operator.forgetting.forget({ kind: 'chat', name: 'cron:morning', confirmed: true })
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
  await say('what was said?')
  expect(prompt()).toContain('the bin goes out')
})

/** Imports a conversation of an older program in which the mark was said. */
async function imported(home: Awaited<ReturnType<typeof forgettingHouse>>['home'], key: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-old-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const sessions = join(folder, 'agents', 'main', 'sessions')
  mkdirSync(sessions, { recursive: true })
  const index = { [`agent:main:${key}`]: { sessionId: 'old', updatedAt: 1_772_080_900_000 } }
  writeFileSync(join(sessions, 'sessions.json'), JSON.stringify(index))
  const content = [{ type: 'text', text: `[Telegram Club] Cy: my code is ${MARK}` }]
  const message = { role: 'user', content, timestamp: 1_772_080_000_000 }
  const line = (type: string) => `${JSON.stringify({ type, version: 3, id: type, message })}\n`
  writeFileSync(join(sessions, 'old.jsonl'), ['session', 'message'].map(line).join(''))
  await home.daemon.stop()
  await parley(home.config, ['import', folder])
  await home.restart()
  const { sessions: all } = await home.daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })
  return all.find((one) => one.key === `agent:main:${key}`)?.id ?? ''
}

it.each([
  ['a group', 'telegram:group:-1009'],
  ['a direct chat', 'telegram:direct:444'],
])('S41: an imported conversation of %s goes by its id, from where it was read by a tool, too', async (_whose, key) => {
  const script: Script = (request) => {
    const result = toolResult(request)
    if (result !== undefined) return textReply(`result: ${result}`)
    const [, name, input] = /call (\w+) (\{.*\})/.exec(lastUserText(request)) ?? []
    if (name === undefined || input === undefined) return textReply('fine')
    return { blocks: [{ type: 'tool_use', name, input: JSON.parse(input) as Record<string, unknown> }] }
  }
  const { home, say } = await forgettingHouse({ script })
  const id = await imported(home, key)
  expect(await say(`call sessions_history ${JSON.stringify({ sessionKey: id })}`)).toContain(MARK)
  await home.daemon.operator.forgetting.forget({ kind: 'chat', name: id, confirmed: true })
  await expect.poll(() => holding(home.dataDir, MARK)).toEqual([])
})
