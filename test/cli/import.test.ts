import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { systemClock } from '../../src/core/clock.ts'
import { EXIT } from '../../src/core/errors.ts'
import type { SessionId } from '../../src/core/ids.ts'
import { importInto } from '../../src/daemon/import.ts'
import { createTranscript } from '../../src/sessions/view/transcript.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { Database } from '../../src/store/engines/sqlite-driver.ts'
import { said as wordsOf } from '../fakes/said.ts'
import { type Rig, rig } from './rig.ts'

const said = (role: string, content: unknown) => ({ role, content })

/** The command on a store of its own, with these files in the folder `old`. */
async function withFiles(files: Readonly<Record<string, unknown>>): Promise<Rig> {
  const cli = await rig({ importSessions: ({ config }, old, options) => importInto(config, old, options) })
  await mkdir(join(cli.loaded.config.dataDir, 'old'))
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    await writeFile(join(cli.loaded.config.dataDir, 'old', name), text)
  }
  return cli
}

/** What the model would be shown of the session of this name. */
async function shown({ loaded }: Rig, name: string) {
  const store = await openSqliteStore({ path: loaded.config.store.path, clock: systemClock })
  const session = await store.read.sessions.resolve(name)
  const transcript = createTranscript(store.read.events, {
    turns: 40,
    dropTurns: 1,
    contextMessages: 50,
    contextCharacters: 9_000,
  })
  const view = await transcript.view(session ?? { id: '' as SessionId, chatType: 'direct' })
  await store.close()
  return { session, texts: view.history.map(wordsOf) }
}

const WHOLE = {
  key: 'agent:main:telegram:direct:123',
  messages: [
    said('system', 'You are a bot.'),
    said('user', 'hello'),
    said('assistant', [{ type: 'text', text: 'hi' }]),
    said('tool', 'ignored'),
    said('user', 'and now?'),
    said('assistant', 'goodbye'),
  ],
  updated: '2026-01-02T03:04:05Z',
}

describe('parley import', () => {
  it('K39: whole-file sessions are imported under the key inside the file', async () => {
    const cli = await withFiles({ 'agent_main_telegram_direct_123.json': WHOLE })
    expect(await cli.run('import', 'old')).toBe(EXIT.ok)
    expect(cli.out()).toContain('4 messages as agent:main:telegram:direct:123')
    expect(cli.out()).toContain('1 imported, 0 there already, 0 skipped')
    const { session, texts } = await shown(cli, 'Agent:main:telegram:direct:123')
    expect(texts).toEqual(['hello', 'hi', 'and now?', 'goodbye'])
    expect(session).toMatchObject({ lastActivityAt: Date.parse('2026-01-02T03:04:05Z'), messageCount: 4, turnCount: 2 })
  })

  it('C29: no value of a secret comes into the store, however its file writes it', async () => {
    const secrets = ['hunter2-"quoted"-hunter2', 'of-the-summary-hunter2'].map((value) => new Secret(value))
    const cli = await rig({ importSessions: ({ config }, old, more) => importInto({ ...config, secrets }, old, more) })
    const folder = join(cli.loaded.config.dataDir, 'old')
    await mkdir(folder)
    await writeFile(join(folder, 'a.jsonl'), `${JSON.stringify(said('user', 'it is hunter2-"quoted"-hunter2'))}\n`)
    const meta = { key: 'agent:main:telegram:direct:123', summary: 'they said of-the-summary-hunter2' }
    await writeFile(join(folder, 'a.meta.json'), JSON.stringify(meta))
    expect(await cli.run('import', 'old')).toBe(EXIT.ok)
    const { texts } = await shown(cli, meta.key)
    expect(texts.join()).toContain('they said')
    expect(texts.join()).not.toContain('hunter2')
  })

  it('C29: a secret that stands in a key as well leads to no other conversation', async () => {
    const secrets = [new Secret('telegram-group')]
    const cli = await rig({ importSessions: ({ config }, old, more) => importInto({ ...config, secrets }, old, more) })
    const folder = join(cli.loaded.config.dataDir, 'old')
    await mkdir(folder)
    const key = 'agent:main:desk:telegram-group'
    await writeFile(join(folder, 'a.json'), JSON.stringify({ ...WHOLE, key }))
    expect(await cli.run('import', 'old')).toBe(EXIT.ok)
    expect((await shown(cli, key)).texts).toHaveLength(4)
  })

  it('a session is no newer than its import, whatever time its file names', async () => {
    const cli = await withFiles({ 'old.json': { ...WHOLE, updated: Number.MAX_SAFE_INTEGER } })
    expect(await cli.run('import', 'old')).toBe(EXIT.ok)
    const { session } = await shown(cli, WHOLE.key)
    expect(session?.lastActivityAt).toBeLessThanOrEqual(Date.now())
  })

  it('a link is not followed, and reported', async () => {
    const cli = await withFiles({ 'good.json': WHOLE })
    await symlink('good.json', join(cli.loaded.config.dataDir, 'old', 'link.json'))
    expect(await cli.run('import', 'old')).toBe(EXIT.ok)
    expect(cli.out()).toContain('link.json: skipped')
    expect(cli.out()).toContain('1 imported, 0 there already, 1 skipped')
  })

  it('a key too long to be shown is reported', async () => {
    const cli = await withFiles({ 'old.json': { ...WHOLE, key: 'k'.repeat(501) } })
    await cli.run('import', 'old')
    expect(cli.out()).toContain('old.json: skipped, its key is longer than 500 characters')
  })

  it('K39: running it again doubles nothing', async () => {
    const cli = await withFiles({ 'a.json': WHOLE, 'b.json': WHOLE })
    await cli.run('import', 'old')
    expect(await cli.run('import', 'old', '--json')).toBe(EXIT.ok)
    expect(cli.out()).toContain('"imported": []')
    expect((await shown(cli, WHOLE.key)).texts).toHaveLength(4)
  })

  it('K39: of two files with one key the second is skipped with the reason, also at a second run', async () => {
    const cli = await withFiles({ 'a.json': WHOLE, 'b.json': { ...WHOLE, messages: [said('user', 'newer')] } })
    const reason = 'b.json: skipped, it has the key of a.json, which is imported, and a chat has one conversation'
    await cli.run('import', 'old', '--dry-run')
    expect(cli.out()).toContain(reason)
    await cli.run('import', 'old')
    expect(cli.out()).toContain('1 imported, 0 there already, 1 skipped')
    await cli.run('import', 'old')
    expect(cli.out().split(reason)).toHaveLength(4)
    expect(cli.out()).toContain('0 imported, 1 there already, 1 skipped')
  })

  it('K39: bad files are reported and skipped, the others are imported', async () => {
    const cli = await withFiles({
      'good.json': WHOLE,
      'half.json': '{"key": "x", "messa',
      'other.json': { key: 'y' },
      'noise.jsonl': 'a\nb\n',
      'notes.txt': 'not ours',
    })
    expect(await cli.run('import', 'old')).toBe(EXIT.ok)
    expect(cli.out().split('\n')).toEqual(
      expect.arrayContaining([
        'half.json: skipped, it is no JSON',
        'other.json: skipped, it has no list of messages',
        'noise.jsonl: skipped, none of its lines is JSON',
        '1 imported, 0 there already, 3 skipped',
      ]),
    )
    expect(cli.out()).not.toContain('notes.txt')
  })

  it.each([
    [
      'that begins in a known form and goes on in another',
      [said('user', 'hello'), { type: 'message', message: said('assistant', 'secret words') }],
      'its message 2 has a form that is not known: keys type, message',
    ],
    ['with a role nobody knows', [said('human', 'secret words')], 'role human, keys role, content'],
    ['with a content nobody knows', [said('user', { parts: ['secret words'] })], 'role user, keys role, content'],
    ['with a part nobody knows', [said('user', [{ type: 'text', text: { value: 'secret words' } }])], 'keys role'],
    ['without any text', [said('assistant', null), said('tool', 'x')], 'it has no message with text'],
    ['that is empty', [], 'it has no message with text'],
  ])('K39, C24: a file %s is skipped and told, in either form, without its words', async (_what, lines, reason) => {
    const cli = await withFiles({
      'foreign.jsonl': lines.map((line) => JSON.stringify(line)).join('\n'),
      'foreign.json': { key: 'telegram:group:-7', messages: lines },
      'good.json': WHOLE,
    })
    expect(await cli.run('import', 'old')).toBe(EXIT.ok)
    const told = cli.out().split('\n')
    for (const name of ['foreign.json', 'foreign.jsonl']) {
      expect(told.find((line) => line.startsWith(`${name}: skipped, `))).toContain(reason)
    }
    expect(told).toContain('1 imported, 0 there already, 2 skipped')
    expect(cli.out()).not.toMatch(/secret words|\b0 messages/)
    expect((await shown(cli, 'agent:main:telegram:group:-7')).session).toBeUndefined()
  })

  it('K39: a file with nothing but a summary is a conversation', async () => {
    const cli = await withFiles({ 'short.json': { key: 'telegram:group:-7', messages: [], summary: 'It was short.' } })
    expect(await cli.run('import', 'old')).toBe(EXIT.ok)
    expect((await shown(cli, 'agent:main:telegram:group:-7')).texts).toContain('It was short.')
  })

  it('K39: the source files stay as they are, byte for byte, and none is added', async () => {
    const cli = await withFiles({
      'a.json': WHOLE,
      'b.jsonl': JSON.stringify(said('user', 'one')),
      'b.meta.json': { key: 'x' },
      'bad.json': '{"key": "x", "messa',
    })
    const folder = join(cli.loaded.config.dataDir, 'old')
    const state = async () =>
      Promise.all(
        (await readdir(folder)).sort().map(async (name) => {
          const { mtimeMs, ino, mode } = await stat(join(folder, name))
          return { name, mtimeMs, ino, mode, text: await readFile(join(folder, name), 'utf8') }
        }),
      )
    const before = await state()
    await cli.run('import', 'old')
    await cli.run('import', 'old')
    expect(await state()).toEqual(before)
    expect(cli.out()).toContain('2 imported')
  })

  it("T32: an imported session is its agent's before its chat speaks again", async () => {
    const cli = await withFiles({ 'a.json': { ...WHOLE, key: 'agent:second:telegram:group:-7' } })
    await cli.run('import', 'old')
    const { session } = await shown(cli, 'agent:second:telegram:group:-7')
    expect(session).toMatchObject({ agentId: 'second', scope: { agent: 'second' } })
  })

  it('K32: of a file of lines the damaged and the torn ones are left out, and what was hidden stays hidden', async () => {
    const lines = [said('user', 'one'), said('assistant', 'two'), said('user', 'three'), said('assistant', 'four')]
    const [a, b, c, d] = lines.map((line) => JSON.stringify(line))
    const cli = await withFiles({
      'session.jsonl': [a, b, '{"damaged', c, d, '{"role": "user", "con'].join('\n'),
      'session.meta.json': { key: 'telegram:group:-100', skip: 2, summary: 'It began.' },
    })
    await cli.run('import', 'old')
    expect(cli.out()).toContain('4 messages as agent:main:telegram:group:-100, 2 damaged left out')
    const { session, texts } = await shown(cli, 'agent:main:telegram:group:-100')
    expect(texts).toEqual([expect.stringContaining('in short'), 'It began.', '[imported] three', 'four'])
    expect(session).toMatchObject({ messageCount: 4, chatType: 'group' })
  })

  it('K24: the main session of the older program is ours', async () => {
    const cli = await withFiles({ 'main.json': { ...WHOLE, key: 'agent:main:main' } })
    await cli.run('import', 'old')
    expect((await shown(cli, 'main')).session).toMatchObject({ kind: 'main', displayKey: 'main' })
  })

  it('K42: a key with slashes, dots and backslashes is only a key', async () => {
    const key = 'agent:main:../../../etc\\passwd'
    const cli = await withFiles({ 'odd.json': { ...WHOLE, key } })
    await cli.run('import', 'old')
    expect((await shown(cli, key)).texts).toHaveLength(4)
  })

  it('K40: an import that fails leaves the store untouched and ends with a code of its own', async () => {
    const cli = await withFiles({ 'a.json': WHOLE, 'b.json': { ...WHOLE, key: 'second' } })
    const { path } = cli.loaded.config.store
    const store = await openSqliteStore({ path, clock: systemClock })
    await store.close()
    const database = new Database(path)
    const broken =
      "CREATE TRIGGER broken BEFORE INSERT ON aliases WHEN NEW.alias LIKE '%second' BEGIN SELECT RAISE(FAIL, 'no'); END"
    database.exec(broken)
    database.close()
    expect(await cli.run('import', 'old')).toBe(EXIT.migration)
    expect(cli.err()).toContain('the import failed and changed nothing')
    expect((await shown(cli, WHOLE.key)).session).toBeUndefined()
  })

  it('K40: while a daemon holds the store nothing is imported', async () => {
    const cli = await withFiles({ 'a.json': WHOLE })
    const store = await openSqliteStore({ path: cli.loaded.config.store.path, clock: systemClock })
    onTestFinished(() => store.close())
    expect(await cli.run('import', 'old')).toBe(EXIT.locked)
  })

  it('a folder that is not there is said so', async () => {
    const cli = await withFiles({})
    expect(await cli.run('import', 'nowhere')).toBe(EXIT.usage)
    expect(cli.err()).toContain('There is no file or folder')
  })
})
