import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { Tool } from '../../src/core/turn.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { canonicalJson } from '../../src/sessions/export/bundle-lines.ts'
import { filesIn } from '../../src/sessions/export/transcript-rows.ts'
import { DOT } from '../fakes/pictures.ts'
import { parley } from './house-command.ts'
import { type Household, type HouseholdOptions, recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const script: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)

/** A household at a fixed time, with a group. */
async function household(options: HouseholdOptions = {}) {
  const house = await startHousehold({ script, streaming: false, clock: setClock('2026-11-21T08:00:00Z'), ...options })
  const { id: chat } = house.telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444, 555] })
  return { house, chat, key: `telegram:group:${chat}` }
}

async function say(house: Household, chat: number, text: string, from = 111): Promise<void> {
  const after = house.telegram.ledger.mark()
  house.telegram.world.say({ from, chat, text: `@parley_bot ${text}` })
  await house.telegram.ledger.nextFromBot('sent', { after })
  await recorded(house)
}

async function talk(house: Household, chat: number): Promise<void> {
  house.telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
  await say(house, chat, 'when is dinner?')
  await say(house, chat, 'who cooks?', 444)
}

/** What the model is shown when this is said. */
async function promptFor(house: Household, chat: number, text: string): Promise<string> {
  await say(house, chat, text)
  const request = house.anthropic?.ledger.requests().at(-1)
  return JSON.stringify([request?.system, request?.messages])
}

async function bundleOf(house: Household, key: string): Promise<string> {
  const done = await parley(house.config, ['export', key, '--bundle', 'session.parley'])
  expect(done.code, done.err).toBe(0)
  return join(house.dataDir, 'session.parley')
}

/** Imports into the store of a household, which is stopped meanwhile. */
async function importInto(house: Household, ...argv: string[]) {
  await house.daemon.stop()
  const done = await parley(house.config, ['import', ...argv])
  await house.restart()
  return done
}

describe('a session on another machine', () => {
  it('its chat continues there: the next prompt is the same byte for byte', async () => {
    const [from, to] = [await household(), await household()]
    expect(to.chat).toBe(from.chat)
    await talk(from.house, from.chat)
    const file = await bundleOf(from.house, from.key)
    const done = await importInto(to.house, file)
    expect([done.code, done.err]).toEqual([0, ''])
    expect(await promptFor(to.house, to.chat, 'and tomorrow?')).toBe(
      await promptFor(from.house, from.chat, 'and tomorrow?'),
    )
  })

  it('the copy for a trial that is under way stays, whatever time a daemon has that starts meanwhile', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), `parley-trial-${process.pid}-`))
    test.onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    await household()
    expect(existsSync(folder)).toBe(true)
  })

  it('K39: a second import doubles nothing, and says so', async () => {
    const [from, to] = [await household(), await household()]
    await talk(from.house, from.chat)
    const file = await bundleOf(from.house, from.key)
    await importInto(to.house, file)
    const before = await to.house.daemon.operator.sessions.show(to.key)
    const again = await importInto(to.house, file)
    expect(again.out).toContain('is there already')
    expect(await to.house.daemon.operator.sessions.show(to.key)).toEqual(before)
    expect((await to.house.daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })).total).toBe(1)
  })

  it('where the chat has a session by now, it stands beside it and says how to continue it', async () => {
    const [from, to] = [await household(), await household()]
    await talk(from.house, from.chat)
    await say(to.house, to.chat, 'hello')
    const there = await to.house.daemon.operator.sessions.show(to.key)
    const done = await importInto(to.house, await bundleOf(from.house, from.key))
    expect(done.out).toMatch(/beside others; to continue it in a chat: parley sessions move \S+ <chat>/)
    expect((await to.house.daemon.operator.sessions.show(to.key)).id).toBe(there.id)
    expect((await to.house.daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })).total).toBe(2)
  })

  it('with --dry-run it says the same and keeps nothing', async () => {
    const [from, to] = [await household(), await household()]
    await talk(from.house, from.chat)
    const done = await importInto(to.house, await bundleOf(from.house, from.key), '--dry-run')
    expect(done.out).toContain('would be imported')
    expect((await to.house.daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })).total).toBe(0)
  })

  it('C41: two bundles of one session are the same bytes, and no path of the machine is in them', async () => {
    const { house, chat, key } = await household()
    await talk(house, chat)
    const first = readFileSync(await bundleOf(house, key), 'utf8')
    await parley(house.config, ['export', key, '--bundle', 'session.parley', '--force'])
    expect(readFileSync(join(house.dataDir, 'session.parley'), 'utf8')).toBe(first)
    await say(house, chat, 'more')
    await parley(house.config, ['export', key, '--bundle', 'session.parley', '--force'])
    expect(readFileSync(join(house.dataDir, 'session.parley'), 'utf8')).not.toContain(house.dataDir)
  })

  it('the people of the other configuration are nobody here: only platform ids are kept', async () => {
    const [from, to] = [await household(), await household()]
    await talk(from.house, from.chat)
    const file = await bundleOf(from.house, from.key)
    expect(readFileSync(file, 'utf8')).toContain('"owner":true')
    await importInto(to.house, file)
    const { session, events } = await to.house.daemon.operator.archives.page(to.key, { after: 0, limit: 200 })
    expect(JSON.stringify(events)).not.toMatch(/"owner":true|"person":/)
    expect(session.authors).toEqual(expect.arrayContaining(['telegram:111', 'telegram:444']))
    expect(session.authors.filter((author) => /^person:|^operator$/.test(author))).toEqual([])
  })

  it('the words of the other operator are nobody’s, and an agent brings no tool that this one does not give', async () => {
    const agent = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be calm.', tools: ['time', 'web'] }
    const [from, to] = [await household({ config: { agents: [agent] } }), await household()]
    await from.house.daemon.operator.sessions.start({ name: 'api:trip' })
    await from.house.daemon.operator.sessions.post('api:trip', { text: 'hello' })
    const done = await importInto(to.house, await bundleOf(from.house, 'api:trip'))
    expect(done.code, done.err).toBe(0)
    const { session } = await to.house.daemon.operator.archives.page('api:trip', { after: 0, limit: 1 })
    expect(session.authors).toEqual(['nobody'])
    expect(session.agentProfile).toMatchObject({ prompt: 'Be calm.', tools: ['time'] })
  })
})

/** A camera that gives the agent a picture. */
const camera: Tool = {
  spec: { name: 'photograph', description: 'Takes a picture.', parameters: { type: 'object', properties: {} } },
  ...{ class: 'pure', reach: 'inside' },
  run: async (_, context) => ({ content: [await context.keep(DOT, 'garden.png')] }),
}

const looking: Script = (request) =>
  lastUserText(request).endsWith('look')
    ? { blocks: [{ type: 'tool_use', name: 'photograph', input: {} }] }
    : textReply('seen')

describe('the files of a session', () => {
  async function withPicture() {
    const agent = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Look.', tools: ['camera'] }
    const from = await household({ script: looking, config: { agents: [agent] }, tools: { camera: [camera] } })
    await say(from.house, from.chat, 'look')
    const { events } = await from.house.daemon.operator.archives.page(from.key, { after: 0, limit: 200 })
    const [media] = filesIn(events)
    if (media === undefined) throw new Error('no picture was kept')
    return { ...from, media }
  }

  it('C25: a file comes with its session, and is there under its handle', async () => {
    const [from, to] = [await withPicture(), await household()]
    const done = await importInto(to.house, await bundleOf(from.house, from.key))
    expect(done.out).toContain('and 1 file imported')
    const { base64 } = await to.house.daemon.operator.archives.file(to.key, from.media)
    expect(Buffer.from(base64, 'base64').equals(Buffer.from(DOT))).toBe(true)
  })

  it('C25: what somebody sent comes too, and the next prompt is the same', async () => {
    const [from, to] = [await household(), await household()]
    const file = { as: 'photo', bytes: DOT, caption: '@parley_bot look' } as const
    const after = from.house.telegram.ledger.mark()
    from.house.telegram.world.say({
      ...{ from: 111, chat: from.chat, text: '' },
      extra: fileFields(from.house.telegram.world, file),
    })
    await from.house.telegram.ledger.nextFromBot('sent', { after })
    await recorded(from.house)
    const done = await importInto(to.house, await bundleOf(from.house, from.key))
    expect(done.out).toContain('and 1 file imported')
    const prompt = await promptFor(to.house, to.chat, 'and now?')
    expect(prompt).toContain('"type":"image"')
    expect(prompt).toBe(await promptFor(from.house, from.chat, 'and now?'))
  })

  it('C25: a file that is gone is left out, and its session comes without it', async () => {
    const [from, to] = [await withPicture(), await household()]
    rmSync(join(from.house.dataDir, 'media'), { recursive: true })
    const done = await importInto(to.house, await bundleOf(from.house, from.key))
    expect(done.out).toContain('and 0 files imported')
  })

  it('a file of another session is not given', async () => {
    const { house, media } = await withPicture()
    await house.daemon.operator.sessions.post('cli:other', { text: 'hello' })
    await expect(house.daemon.operator.archives.file('cli:other', media)).rejects.toThrow('No message of cli:other')
  })
})

describe('a bundle that is not whole', () => {
  const changed: readonly [string, (text: string) => string, string][] = [
    ['changed', (text) => text.replace('dinner at seven', 'dinner at eight'), 'checksum differs'],
    ['cut off', (text) => text.slice(0, -40), 'cut off'],
    ['without its last line', (text) => text.slice(0, text.trimEnd().lastIndexOf('\n') + 1), 'cut off'],
    ['without a line', (text) => text.split('\n').toSpliced(2, 1).join('\n'), 'checksum differs'],
    ['of a later version', (text) => text.replace('"version":1}\n', '"version":9}\n'), 'version 9'],
    ['that is something else', () => '{"role":"user"}\n{"role":"assistant"}\n', 'no bundle'],
    ['that is empty', () => '', 'no bundle'],
    [
      'that is an export in another form',
      () => '# Notes\n\nWhat was said.\n',
      'no bundle, which `parley export --bundle` writes',
    ],
  ]
  it.each(changed)('%s is refused, and nothing of it is imported', async (_how, change, reason) => {
    const { house, chat, key } = await household()
    await talk(house, chat)
    const file = await bundleOf(house, key)
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, change(before))
    expect(readFileSync(file, 'utf8')).not.toBe(before)
    const to = await household()
    const done = await importInto(to.house, file)
    expect(done.code).toBe(65)
    expect(done.err).toContain(reason)
    expect((await to.house.daemon.operator.sessions.list({ limit: 9, offset: 0, inactive: true })).total).toBe(0)
  })

  it('equal values are equal lines, whatever the order of their keys', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe(canonicalJson({ a: null, b: [{ c: 2, d: 1 }] }))
  })
})
