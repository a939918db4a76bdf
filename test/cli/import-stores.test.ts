import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { EXIT } from '../../src/core/errors.ts'
import { toPersonId } from '../../src/core/ids.ts'
import { importInto } from '../../src/daemon/import.ts'
import { createTranscript } from '../../src/sessions/view/transcript.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { policy } from '../fakes/routing-policy.ts'
import { said as wordsOf } from '../fakes/said.ts'
import { withDatabase } from '../store/temp-database.ts'
import { type Rig, rig } from './rig.ts'

const STORES = new URL('../fixtures/imports/', import.meta.url).pathname
const LIMITS = { turns: 40, dropTurns: 1, contextMessages: 50, contextCharacters: 9_000 }

/** The command beside a copy of an older program's folder, with Ada (111) configured. */
async function beside(program: string): Promise<Rig> {
  const people = [{ id: toPersonId('ada'), role: 'owner' as const, ids: ['telegram:111'] }]
  const cli = await rig({
    importSessions: ({ config }, files, options) =>
      importInto({ ...config, routing: policy({ people }) }, files, options),
  })
  cpSync(join(STORES, program), join(cli.loaded.config.dataDir, program), { recursive: true })
  return cli
}

/** What the model would be shown of a session, and whose words it counts as. */
async function shown({ loaded }: Rig, name: string) {
  const store = await openSqliteStore({ path: loaded.config.store.path, clock: systemClock })
  try {
    const session = await store.read.sessions.resolve(name)
    if (!session) return undefined
    const view = await createTranscript(store.read.events, LIMITS).view(session)
    const authors = await store.read.authors.of(session.id)
    return { session, authors, texts: view.history.map(wordsOf), hidden: view.hidden.map(wordsOf) }
  } finally {
    await store.close()
  }
}

/** The files of a folder, each with a digest of what it holds. */
function bytesIn(folder: string): readonly string[] {
  const files = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isFile())
  return files.map(
    ({ name }) =>
      `${name} ${createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex')}`,
  )
}

describe('the store of OpenClaw', () => {
  it('K39: a folder of an agent that cannot be read is named: what is imported must not look like all there is', async () => {
    const cli = await beside('openclaw')
    const agents = join(cli.loaded.config.dataDir, 'openclaw', 'agents')
    mkdirSync(join(agents, 'other'))
    mkdirSync(join(agents, 'without'))
    symlinkSync('sessions', join(agents, 'other', 'sessions'))
    expect(await cli.run('import', 'openclaw')).toBe(EXIT.ok)
    expect(cli.out()).toContain('agents/other/sessions: skipped, it cannot be read: ELOOP')
    expect(cli.out()).toContain('2 imported, 0 there already, 2 skipped')
  })

  it('K39: its wrapped lines are read on the branch that was in use, under the keys of its index', async () => {
    const cli = await beside('openclaw')
    expect(await cli.run('import', 'openclaw')).toBe(EXIT.ok)
    const group = await shown(cli, 'agent:main:telegram:group:-1001234567890/42')
    expect(group?.texts.map((text) => text.replace(/^\[imported\] /, ''))).toEqual([
      expect.stringContaining('who feeds the cat?'),
      'Bo does, on Tuesdays.',
      'and on Sundays?',
      'Ada, by turns.',
    ])
    const direct = await shown(cli, 'agent:main:telegram:direct:111')
    expect(direct?.texts).toEqual([
      expect.stringContaining('in short'),
      'Ada booked the early train.',
      'thanks',
      'You are welcome.',
      'which platform?',
      'Platform 4.',
    ])
    expect(direct?.session.messageCount).toBe(6)
  })

  it('K32: a damaged line is left out and told by its number, and what stands before it is not lost', async () => {
    const cli = await beside('openclaw')
    await cli.run('import', 'openclaw')
    const lines = cli.out().split('\n')
    expect(lines).toContain(
      'agents/main/sessions/b7300bff-a214-4c11-97ae-eab26883c67a.jsonl: 4 messages as agent:main:telegram:group:-1001234567890/42, 1 damaged left out (line 10)',
    )
  })

  it('K39: a file that yields no message is skipped', async () => {
    const cli = await beside('openclaw')
    await cli.run('import', 'openclaw')
    expect(cli.out()).toContain('77aa1c0e-55ab-4d38-8f0e-6b8f3f0f1c22.jsonl: skipped, it has no message with text')
    expect(cli.out()).toContain('2 imported, 0 there already, 1 skipped')
    expect(cli.out()).not.toContain('openclaw.json')
  })

  it('T32: imported words are nobody’s, also beside a person whom the configuration knows by the id in the key', async () => {
    const cli = await beside('openclaw')
    await cli.run('import', 'openclaw')
    expect((await shown(cli, 'agent:main:telegram:direct:111'))?.authors).toEqual(['nobody', 'telegram:111'])
    expect((await shown(cli, 'agent:main:telegram:group:-1001234567890/42'))?.authors).toEqual(['nobody'])
    expect(cli.out()).toContain('as agent:main:telegram:direct:111, words of telegram:111')
  })
})

describe('the store of PicoClaw', () => {
  it('K39, K32: lines and whole files are read, with what was hidden, and damaged lines are told', async () => {
    const cli = await beside('picoclaw')
    expect(await cli.run('import', 'picoclaw')).toBe(EXIT.ok)
    const direct = await shown(cli, 'agent:main:telegram:direct:444')
    expect(direct?.texts).toContain('They keep a shopping list.')
    expect(direct?.texts.slice(-2)).toEqual(['and the bread', 'Both are.'])
    expect(direct?.authors).toEqual(['nobody'])
    expect(direct?.session.lastActivityAt).toBe(Date.parse('2026-02-21T09:00:00.123Z'))
    expect(cli.out()).toContain('4 messages as agent:main:telegram:direct:444, 1 damaged left out (line 5)')
    expect((await shown(cli, 'agent:main:slack:channel:c001'))?.texts.at(-1)).toBe('Not on Fridays.')
    expect(cli.out()).toContain('2 imported, 0 there already, 0 skipped')
  })
})

describe('the store of Molf', () => {
  it('K39: a session keeps its name, and its summary stands for what came before', async () => {
    const cli = await beside('molf')
    expect(await cli.run('import', 'molf')).toBe(EXIT.ok)
    const session = await shown(cli, 'agent:main:molf:3f0e2d1c-9b8a-4c7d-8e6f-5a4b3c2d1e0f')
    expect(session?.session).toMatchObject({ description: 'Refactoring the parser', lastActivityAt: 1772080700000 })
    expect(session?.texts).toEqual([
      expect.stringContaining('was summarized'),
      'The parser is in src/parse.ts.',
      'split it',
      'Done, in two files.',
    ])
    expect(cli.out()).toContain('1 imported, 0 there already, 1 skipped')
    expect(cli.out()).not.toContain('config.json')
  })
})

it.each([
  ['openclaw', '2 imported, 0 there already, 1 skipped'],
  ['picoclaw', '2 imported, 0 there already, 0 skipped'],
  ['molf', '1 imported, 0 there already, 1 skipped'],
])('K32: a file of %s that an editor has marked with its encoding loses nothing', async (program, counts) => {
  const reports = []
  for (const mark of ['', '\uFEFF']) {
    const cli = await beside(program)
    const folder = join(cli.loaded.config.dataDir, program)
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (/\.jsonl?$/.test(name)) writeFileSync(join(folder, name), mark + readFileSync(join(folder, name), 'utf8'))
    await cli.run('import', program)
    reports.push(cli.out())
  }
  expect(reports[1]).toBe(reports[0])
  expect(reports[1]).toContain(counts)
})

describe('a store whose keys are in a damaged file', () => {
  it.each([
    ['openclaw', 'agents/main/sessions/sessions.json', 'the index of its keys, agents/main/sessions/sessions.json'],
    [
      'picoclaw',
      'workspace/sessions/agent_main_telegram_direct_444.meta.json',
      'the file beside it that names its key',
    ],
  ])(
    'K39: of %s its conversations are skipped until it is mended, and none is there under another key',
    async (program, file, named) => {
      const cli = await beside(program)
      const path = join(cli.loaded.config.dataDir, program, file)
      const whole = readFileSync(path, 'utf8')
      // Of PicoClaw's conversations the others are imported.
      const code = program === 'openclaw' ? EXIT.migration : EXIT.ok
      for (const torn of ['', whole.slice(0, whole.length / 2), '[]']) {
        writeFileSync(path, torn)
        expect(await cli.run('import', program)).toBe(code)
        expect(cli.out()).toMatch(new RegExp(`jsonl: skipped, ${named}.* is damaged`))
        expect(cli.out()).toMatch(/[1-9] skipped/)
      }
      // What lies elsewhere, as on a disk that is not mounted, is not read: links are not followed.
      renameSync(path, `${path}.elsewhere`)
      symlinkSync(`${path}.elsewhere`, path)
      expect(await cli.run('import', program)).toBe(code)
      expect(cli.out()).toMatch(new RegExp(`jsonl: skipped, ${named}.* is damaged`))
      rmSync(path)
      writeFileSync(path, whole)
      expect(await cli.run('import', program)).toBe(EXIT.ok)
      expect(cli.out().split('\n').at(-3)).toMatch(/^[12] imported, /)
      const keys = withDatabase(cli.loaded.config.store.path, (database) =>
        database.prepare('SELECT display_key FROM sessions').pluck().all(),
      )
      expect(keys.filter((key) => /agent_main|[0-9a-f]{8}-[0-9a-f]{4}/.test(String(key)))).toEqual([])
    },
  )
})

describe.each([
  ['openclaw', 'agents/main/sessions/sessions.json', 2],
  ['picoclaw', 'workspace/sessions/agent_main_telegram_direct_444.meta.json', 2],
] as const)('a store of %s whose keys stand in a file of their own', (program, file, count) => {
  it.each(['gone by then', 'not there yet'])('K39: is imported once, also where that file is %s', async (when) => {
    const cli = await beside(program)
    const path = join(cli.loaded.config.dataDir, program, file)
    const [first, second] = when === 'gone by then' ? [path, `${path}.away`] : [`${path}.away`, path]
    if (first !== path) renameSync(path, first)
    await cli.run('import', program)
    expect(cli.out()).toContain(`${count} imported, 0 there already`)
    renameSync(first, second)
    expect(await cli.run('import', program)).toBe(EXIT.ok)
    expect(cli.out()).toContain(`0 imported, ${count} there already`)
  })
})

it('K39: a file of the same name in another store, where it has another key, is another conversation', async () => {
  const cli = await beside('picoclaw')
  const meta = join(cli.loaded.config.dataDir, 'picoclaw/workspace/sessions/agent_main_telegram_direct_444.meta.json')
  await cli.run('import', 'picoclaw')
  writeFileSync(meta, readFileSync(meta, 'utf8').replace(':444', ':555'))
  expect(await cli.run('import', 'picoclaw')).toBe(EXIT.ok)
  expect(cli.out()).toContain('1 imported, 1 there already, 0 skipped')
})

it('K39: two agents of one store may have files of one name, of which the report loses none', async () => {
  const cli = await beside('openclaw')
  const agents = join(cli.loaded.config.dataDir, 'openclaw', 'agents')
  cpSync(join(agents, 'main'), join(agents, 'other'), { recursive: true })
  for (const agent of ['main', 'other']) rmSync(join(agents, agent, 'sessions', 'sessions.json'))
  await cli.run('import', 'openclaw')
  expect(cli.out()).toContain('2 imported, 0 there already, 4 skipped')
  expect(cli.out()).toMatch(/agents\/other\S+: skipped, it has the key of agents\/main\//)
})

describe('a folder that is none', () => {
  it('K39: is refused with what to name instead, and is no import of nothing', async () => {
    const cli = await beside('openclaw')
    expect(await cli.run('import', 'openclaw/agents')).toBe(EXIT.usage)
    expect(cli.err()).toMatch(/agents has no conversations of PicoClaw, OpenClaw or Molf; name that of the program/)
  })

  it('K39: an import that finds nothing says so by its code: 2 without a file of theirs, 65 where each was skipped', async () => {
    const cli = await beside('openclaw')
    const folder = join(cli.loaded.config.dataDir, 'nothing')
    mkdirSync(folder)
    expect(await cli.run('import', folder)).toBe(EXIT.usage)
    writeFileSync(join(folder, 'half.json'), '{"key": "x", "messa')
    expect(await cli.run('import', folder)).toBe(EXIT.migration)
    expect(cli.out()).toContain('0 imported, 0 there already, 1 skipped')
  })
})

describe('a chat in which somebody has spoken here before', () => {
  it('K39: keeps its conversation, and the report does not say that the older one is there', async () => {
    const cli = await beside('picoclaw')
    await cli.run('import', 'picoclaw')
    const { path } = cli.loaded.config.store
    withDatabase(path, (database) => database.exec(`UPDATE sessions SET source = '{"kind":"channel"}'`))
    expect(await cli.run('import', 'picoclaw')).toBe(EXIT.ok)
    expect(cli.out()).toMatch(
      /444\.jsonl: not imported, its chat has a conversation that began here, import:\S+; it can be once that is deleted: parley sessions delete import:/,
    )
    expect(cli.out()).toContain('0 imported, 0 there already, 0 skipped, 2 not, since their chats have begun here')
  })
})

describe.each(['openclaw', 'picoclaw', 'molf'])('any import, here of %s', (program) => {
  it('K39: a second one doubles nothing', async () => {
    const cli = await beside(program)
    await cli.run('import', program)
    const counted = /(\d+) imported, 0 there already/.exec(cli.out())?.[1]
    expect(await cli.run('import', program)).toBe(EXIT.ok)
    expect(cli.out()).toContain(`0 imported, ${counted} there already`)
  })

  it('K39: with --dry-run it says the same and keeps nothing', async () => {
    const cli = await beside(program)
    expect(await cli.run('import', program, '--dry-run')).toBe(EXIT.ok)
    const [, count] = /(\d+) would be imported, 0 there already/.exec(cli.out()) ?? []
    const store = await openSqliteStore({ path: cli.loaded.config.store.path, clock: systemClock })
    expect((await store.read.sessions.list({ limit: 1, offset: 0, inactive: true })).total).toBe(0)
    await store.close()
    await cli.run('import', program)
    expect(cli.out()).toContain(`${count} imported, 0 there already`)
  })

  it('K39: with --dry-run it writes nothing, where there is no store yet and where there is one', async () => {
    const cli = await beside(program)
    const { dataDir } = cli.loaded.config
    for (const _ of ['none', 'one']) {
      const before = bytesIn(dataDir)
      expect(await cli.run('import', program, '--dry-run')).toBe(EXIT.ok)
      expect(bytesIn(dataDir)).toEqual(before)
      await cli.run('import', program)
    }
    expect(cli.out()).toMatch(/0 would be imported, [1-9]\d* there already/)
  })

  it('K39: with --dry-run a disk without room for the copy is named with the remedy', async () => {
    const cli = await beside(program)
    vi.stubEnv('TMPDIR', join(cli.loaded.config.dataDir, 'nowhere'))
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(await cli.run('import', program, '--dry-run')).toBe(EXIT.failed)
    expect(cli.err()).toMatch(/cannot be copied for a trial: ENOENT.* TMPDIR names the folder/)
  })

  it('a terminal is shown how far it is', async () => {
    const cli = await beside(program)
    const err: string[] = []
    cli.ports.stderr.write = (text) => void err.push(text)
    Object.assign(cli.ports.stderr, { isTTY: true })
    await cli.run('import', program)
    expect(err.join('')).toMatch(/\[#{24}\] (\d+) of \1 conversations/)
  })
})
