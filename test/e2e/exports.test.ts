import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { Secret } from '../../src/config/secrets.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { parley } from './house-command.ts'
import { type Household, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'

const script: Script = (request) => {
  if (toolResult(request) !== undefined) return textReply('It is noon.')
  const text = lastUserText(request)
  if (text.endsWith('what time is it?')) return { blocks: [{ type: 'tool_use', name: 'time_now', input: {} }] }
  return textReply(`heard ${text.split('\n').at(-1)}`)
}

const say = (house: Household, name: string, text: string) => house.daemon.operator.sessions.post(name, { text })
const file = (house: Household, name: string) => join(house.dataDir, name)
const text = (house: Household, name: string) => readFileSync(file(house, name), 'utf8')
const run = (house: Household, ...argv: string[]) => parley(house.config, argv)
const eventsOf = async (house: Household, name: string) =>
  (await house.daemon.operator.sessions.history(name, { limit: 200 })).events

describe('parley export', () => {
  it('C42: it records the path in the session, which goes on, over the socket of a running daemon', async () => {
    const house = await startHousehold({ script })
    await say(house, 'cli:trip', 'hello')
    const { code, out, err } = await run(house, 'export', 'cli:trip', '--format', 'workflow', '--out', 'trip.yaml')
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(file(house, 'trip.yaml'))
    const [event] = (await eventsOf(house, 'cli:trip')).filter(({ type }) => type === 'session:exported')
    expect(event?.text).toBe(`exported as workflow to ${file(house, 'trip.yaml')}`)
    expect(await say(house, 'cli:trip', 'still there?')).toMatchObject({ status: 'ok', reply: 'heard still there?' })
    expect(house.anthropic?.ledger.requests().at(-1)?.messages).toHaveLength(3)
  })

  it('C35, C36, C41: a real session as a workflow: two exports are the same bytes, and so is one parsed and written again', async () => {
    const house = await startHousehold({ script })
    await say(house, 'cli:trip', 'what time is it?')
    await say(house, 'cli:trip', 'say {{x}}')
    await run(house, 'export', 'cli:trip', '--format', 'workflow', '--out', 'a.yaml')
    await run(house, 'export', 'cli:trip', '--format', 'workflow', '--out', 'b.yaml')
    expect(text(house, 'b.yaml')).toBe(text(house, 'a.yaml'))
    const value = parse(text(house, 'a.yaml'))
    expect(stringify(value, { sortMapEntries: true, lineWidth: 0 })).toBe(text(house, 'a.yaml'))
    expect(value.workflow.nodes).toMatchObject([
      { id: 'input' },
      { id: 'turn-1', prompt_template: 'what time is it?' },
      { id: 'turn-2', prompt_template: 'say { {x}}' },
      { id: 'output' },
    ])
  })

  it.each([
    ['jsonl', ['"type":"session"', '"type":"user_message"', 'hello there']],
    ['markdown', ['# hello there', '> heard hello there', '## Agent']],
  ])('C41: the same session gives the same %s', async (format, parts) => {
    const house = await startHousehold({ script })
    await say(house, 'cli:trip', 'hello there')
    for (const name of ['a', 'b']) await run(house, 'export', 'cli:trip', '--format', format, '--out', name)
    expect(text(house, 'b')).toBe(text(house, 'a'))
    for (const part of parts) expect(text(house, 'a')).toContain(part)
  })

  it('C42: without a daemon the store is read, and the export is on record there', async () => {
    const house = await startHousehold({ script })
    await say(house, 'cli:trip', 'hello')
    await house.daemon.stop()
    const { code, err } = await run(house, 'export', 'cli:trip', '--out', 'trip.md')
    expect(code).toBe(0)
    expect(err).toContain('No daemon is running')
    await house.restart()
    expect((await eventsOf(house, 'cli:trip')).map(({ type }) => type)).toContain('session:exported')
  })

  it('C42: its file is for its owner alone, and takes the place of no other without --force', async () => {
    const house = await startHousehold({ script })
    await say(house, 'cli:trip', 'hello')
    writeFileSync(file(house, 'trip.md'), 'mine')
    const refused = await run(house, 'export', 'cli:trip', '--out', 'trip.md')
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('--force')
    expect(text(house, 'trip.md')).toBe('mine')
    expect((await eventsOf(house, 'cli:trip')).map(({ type }) => type)).not.toContain('session:exported')
    expect((await run(house, 'export', 'cli:trip', '--out', 'trip.md', '--force')).code).toBe(0)
    expect(text(house, 'trip.md')).toContain('> hello')
    expect(statSync(file(house, 'trip.md')).mode & 0o777).toBe(0o600)
    expect(readdirSync(house.dataDir).filter((name) => name.startsWith('.trip'))).toEqual([])
  })

  it.each(['workflow', 'jsonl', 'markdown', 'bundle'])(
    'C29: no value of a secret is in an export as %s',
    async (form) => {
      const key = 'sk-canary-0123456789'
      const agent = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: `Use ${key}.`, tools: ['time'] }
      const house = await startHousehold({ script, config: { agents: [agent] } })
      await house.daemon.operator.sessions.start({ name: 'api:trip' })
      await say(house, 'api:trip', `remember ${key}`)
      // It becomes a secret only now: what is stored already has it.
      await house.restart({ secrets: [new Secret(key)] })
      const how = form === 'bundle' ? ['--bundle', 'trip'] : ['--format', form, '--out', 'trip']
      expect((await run(house, 'export', 'api:trip', ...how)).code).toBe(0)
      expect(text(house, 'trip')).not.toContain(key)
      expect(text(house, 'trip')).toContain('[secret]')
    },
  )

  it.each([
    [['none', '--out', 'x'], 1, 'none'],
    [['cli:trip'], 2, '--out'],
    [['cli:trip', '--format', 'pdf', '--out', 'x'], 2, 'workflow'],
    [['cli:trip', '--bundle', 'x', '--format', 'jsonl'], 2, '--bundle'],
    [['cli:trip', '--out', 'no/such/folder/x'], 2, 'There is no folder '],
  ])('export %j exits %i and says %s', async (argv, code, said) => {
    const house = await startHousehold()
    await say(house, 'cli:trip', 'hello')
    const done = await run(house, 'export', ...argv)
    expect(done.code).toBe(code)
    expect(done.err).toContain(said)
    expect(readdirSync(house.dataDir)).not.toContain('x')
  })

  it('a long session is read in pages, with its progress on a terminal', async () => {
    const house = await startHousehold()
    for (let n = 0; n < 80; n++) await say(house, 'cli:long', `word ${n}`)
    const done = await parley(house.config, ['export', 'cli:long', '--format', 'jsonl', '--out', 'long'], {
      isTTY: true,
    })
    expect(done.err).toMatch(/\[#+\.+\] 200 of \d+ events/)
    const lines = text(house, 'long').trimEnd().split('\n')
    expect(lines.length).toBe(
      (await house.daemon.operator.archives.page('cli:long', { after: 0, limit: 1 })).session.lastSeq,
    )
    expect(lines.filter((line) => line.includes('"type":"user_message"'))).toHaveLength(80)
  })
})
