import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { catalogue } from '../adapters/index.ts'
import { DOORS } from '../src/core/doors.ts'
import { REGISTER } from './faults/register.ts'

const root = new URL('..', import.meta.url).pathname

function files(folder: string): string[] {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = join(folder, name)
    return statSync(join(root, path)).isDirectory() ? files(path) : [path]
  })
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const lines = (path: string): number => read(path).trimEnd().split('\n').length
const sources = [...files('src'), ...files('adapters')].filter((path) => path.endsWith('.ts'))
const own = sources.filter((path) => !path.startsWith('src/rehearsal/'))

describe('sizes', () => {
  it('no source and no test file is longer than 600 lines', () => {
    const tests = files('test').filter((path) => path.endsWith('.ts'))
    expect([...sources, ...tests].filter((path) => lines(path) > 600)).toEqual([])
  })

  it.each([
    ['src/pipeline/pipeline.ts', 120],
    ['src/main.ts', 120],
    ['src/daemon/start.ts', 250],
    ['src/daemon/stages.ts', 250],
  ])('%s is at most %i lines', (path, most) => {
    expect(lines(path)).toBeLessThanOrEqual(most)
  })

  it.each(['README.md', 'test/README.md'])('%s has at most 1,200 words', (page) => {
    expect(read(page).trim().split(/\s+/).length).toBeLessThanOrEqual(1200)
  })

  // These two have more words than that.
  it.each(['src/README.md', 'adapters/README.md'])('%s is at most two screens long', (page) => {
    expect(lines(page)).toBeLessThanOrEqual(110)
  })
})

/**
 * Each number is what there is today. Lower it whenever the count falls. It was raised once, by the 68 files that set the
 * program up, look it over, copy it, install it and take over the set-up of others: five things that were not there.
 */
describe('counts that only fall, the rehearsal left out', () => {
  const compositionRoot = ['src/daemon/start.ts', 'src/daemon/stages.ts']
  const importers = new Map<string, Set<string>>()
  for (const path of sources) {
    for (const [, imported = ''] of read(path).matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
      const target = join(dirname(path), imported)
      importers.set(target, (importers.get(target) ?? new Set()).add(path))
    }
  }
  const small = own.filter((path) => lines(path) < 60 && importers.get(path)?.size === 1)
  const wide = own.filter((path) => (read(path).match(/^import\b/gm) ?? []).length > 15)

  it.each([
    ['source files', 1251, own],
    ['files under 60 lines with one importer', 192, small],
    ['files with more than 15 imports', 84, wide.filter((path) => !compositionRoot.includes(path))],
  ])('%s: %i', (what, most, found) => {
    const now = found.length
    const remedy = now > most ? 'merge or divide files instead of raising the number' : `lower the number to ${now}`
    expect(now, `There are ${now} ${what}, and the number here is ${most}: ${remedy}`).toBe(most)
  })
})

describe('names', () => {
  it('two exported types never share a name, except in the same rooms of two platforms', () => {
    const homes = new Map<string, Set<string>>()
    for (const path of own) {
      for (const [, name = ''] of read(path).matchAll(/^export (?:interface|type|class) (\w+)/gm)) {
        const home = path.replace(/^adapters\/(?!shared\/)[^/]+\//, 'adapters/<platform>/')
        homes.set(name, (homes.get(name) ?? new Set()).add(home))
      }
    }
    const shared = [...homes].filter(([, paths]) => paths.size > 1).map(([name, paths]) => [name, ...paths])
    expect(shared).toEqual([])
    expect(homes.size).toBeGreaterThan(500)
  })
})

describe('layout', () => {
  const platforms = Object.keys(catalogue)

  it.each(platforms)('%s has the six files, its facts, and the three rooms with what is in each', (platform) => {
    const folder = join(root, 'adapters', platform)
    const beside = ['FACTS.md', 'adapter.ts', 'address.ts', 'config.ts', 'format.ts', 'lookup.ts', 'setup.ts']
    const rooms = {
      inbound: ['read-event.ts', 'reading.ts'],
      outbound: ['send.ts', 'receipts.ts', 'render.ts'],
      connection: ['client.ts', 'greet.ts', 'run.ts', 'wire-watch.ts'],
    }
    expect(readdirSync(folder).sort()).toEqual([...beside, ...Object.keys(rooms)].sort())
    const inRooms = Object.entries(rooms).flatMap(([room, names]) => names.map((name) => join(room, name)))
    expect(inRooms.filter((path) => !existsSync(join(folder, path)))).toEqual([])
  })

  it.each(platforms)('%s has a schema block and the contract suite', (platform) => {
    expect(read('config/parley.example.yaml')).toMatch(new RegExp(`^ *#? ?${platform}:`, 'm'))
    const suites = files(`test/adapters/${platform}`).filter((path) => path.endsWith('.test.ts'))
    expect(suites.some((path) => read(path).includes('adapterContract('))).toBe(true)
  })

  it('every adapter folder is in the catalogue', () => {
    const folders = readdirSync(join(root, 'adapters'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(folders.map(({ name }) => name).filter((name) => name !== 'shared' && !platforms.includes(name))).toEqual([])
  })

  it('every noun of the store is in the contract suite', () => {
    const port = read('src/store/store.ts')
    const nouns = [...port.matchAll(/^ {2}readonly (\w+): \w+Reader & \w+Writer$/gm)].map(([, noun]) => noun)
    const contract = files('test/contracts').map(read).join('\n')
    expect(nouns.length).toBeGreaterThan(6)
    expect(nouns.filter((noun) => !contract.includes(`tx.${noun}.`))).toEqual([])
  })

  it('the top level holds what the design lists, and dot-files', () => {
    const shown = readdirSync(root).filter((name) => !name.startsWith('.'))
    const made = ['node_modules', 'dist', 'coverage']
    const listed = ['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE', 'README.md']
    const folders = ['src', 'adapters', 'config', 'test', 'systemd']
    expect(shown.filter((name) => ![...made, ...listed, ...folders].includes(name))).toEqual([])
  })
})

describe('platforms', () => {
  const exempt = ['src/rehearsal/', 'src/imports/', 'src/store/migrations/']
  const named = new RegExp(Object.keys(catalogue).join('|'), 'i')

  /** Every text and name of a source, comments left out: literals, templates, patterns, keys. */
  function words(path: string): string[] {
    const found: string[] = []
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node) || ts.isLiteralExpression(node) || ts.isTemplateMiddleOrTemplateTail(node))
        found.push(node.text)
      else if (ts.isTemplateHead(node)) found.push(node.text)
      ts.forEachChild(node, visit)
    }
    visit(ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest))
    return found
  }

  it('no source names one, outside of the rehearsal, of what reads other programs and of written migrations: what differs is a trait', () => {
    const core = sources.filter((path) => path.startsWith('src/') && !exempt.some((folder) => path.startsWith(folder)))
    const naming = core
      .filter((path) => named.test(read(path)))
      .flatMap((path) =>
        words(path)
          .filter((word) => named.test(word))
          .map((word) => `${path}: ${word}`),
      )
    expect(naming).toEqual([])
  })
})

describe('doors', () => {
  it('only main.ts and what loads it, the log, the demo, what is removed or killed at the end, the one place of decision 0014 and a program of its own touch the process', () => {
    const allowed = [
      'src/main.ts',
      'src/node-floor.ts',
      'src/platform/pino-logger.ts',
      'src/platform/remove-at-end.ts',
      'src/mcp/marked-processes.ts',
      'src/rehearsal/demo/run-demo.ts',
      'src/media/document-child.ts',
      'src/media/scale-child.ts',
      'src/web/html-child.ts',
      'adapters/discord/connection/library-failures.ts',
    ]
    const touching = sources.filter((path) => /\bprocess\.(env|exit|argv|stdout|stderr|stdin|on)\b/.test(read(path)))
    expect(touching.filter((path) => !allowed.includes(path))).toEqual([])
  })

  it('every text leaves by the delivery stage: nobody else calls an adapter', () => {
    const callers = sources.filter((path) =>
      /\badapter\??\.(send|edit|delete)\(|\beditor\.(send|edit|delete)\(/.test(read(path)),
    )
    expect(callers.filter((path) => !path.startsWith('src/delivery/'))).toEqual([])
  })

  it('zod is imported as a namespace: by its object the bundle has all of it, in 50 languages, from the start on', () => {
    expect(sources.filter((path) => /import \{[^}]*\bz\b[^}]*\} from 'zod'/.test(read(path)))).toEqual([])
  })

  it('no module reads the clock but by the port, outside the rehearsal and the edges', () => {
    const edges = ['src/core/clock.ts', 'src/main.ts', 'src/platform/pino-logger.ts']
    const reading = sources.filter(
      (path) => /\bDate\.now\(\)|new Date\(\)/.test(read(path)) && !path.startsWith('src/rehearsal/'),
    )
    expect(reading.filter((path) => !edges.includes(path))).toEqual([])
  })
})

describe('what comes from outside', () => {
  /** Who reads JSON that Parley itself has written, or that belongs to it. */
  const OWN_WORDS = [
    ...['src/store/rows.ts', 'src/store/forgetting-reading.ts', 'src/mcp/login/logins.ts'],
    ...['src/schedule/scheduler.ts', 'src/sessions/service/relocate.ts', 'src/sessions/view/known-addresses.ts'],
    ...['src/sessions/forgetting/shown-messages.ts', 'adapters/telegram/outbound/command-menu.ts'],
    ...['adapters/telegram/inbound/known-threads.ts', 'src/backup/later-removals.ts'],
    ...['adapters/shared/known-chats.ts', 'src/core/redact.ts', 'src/platform/pino-logger.ts'],
    ...['src/platform/version.ts', 'src/http/routes/document.ts'],
    // Our own program answers, and a step of the build reads what another has written.
    ...['src/cli/commands/upgrade.ts', 'src/platform/write-licences.ts'],
    // The schemas of a list were measured with it.
    'src/mcp/read-tools.ts',
  ]
  /** Who takes bytes one piece after the other, each with a bound of its own. */
  const IN_PIECES = [
    ...['src/agent/models/event-source.ts', 'src/agent/models/model-fetch.ts', 'src/mcp/address-transport.ts'],
    // They send a body, or read what our own programs have written.
    ...['src/web/audio.ts', 'adapters/discord/connection/client.ts', 'src/http/idempotency.ts'],
    ...['src/media/file-form.ts', 'src/core/redact.ts', 'src/platform/run-child.ts'],
    // Lines of bytes that are in memory.
    'src/platform/decode-text.ts',
  ]
  // The client of the API reads the answers of our own daemon, and is bundled alone.
  const inside = own.filter((path) => !path.startsWith('src/client/'))

  it('JSON from outside is read by readJson alone, which measures it first', () => {
    const parsing = inside.filter((path) => /JSON\.parse\(|\.json\(\)/.test(read(path)))
    expect(parsing.filter((path) => ![...OWN_WORDS, 'src/core/read-json.ts'].includes(path))).toEqual([])
  })

  it('bytes from outside are gathered by read-bytes.ts alone, up to a limit', () => {
    const gathering = inside.filter((path) =>
      /\.(?:arrayBuffer|blob|formData)\(\)|(?<!context|html)\.text\(\)|Buffer\.concat\(|getReader\(/.test(read(path)),
    )
    expect(gathering.filter((path) => !IN_PIECES.includes(path))).toEqual([])
  })

  it.each(Object.keys(DOORS))('door %s: it is read by its bounds, and a test sends it its worst text', (door) => {
    const reading = own.filter((path) => read(path).includes(`DOORS.${door}`))
    expect(reading).not.toEqual([])
    const titles = files('test').map((path) => read(path))
    expect(titles.filter((text) => new RegExp(`'door (?:\\w+, )*${door}[:,]`).test(text))).not.toEqual([])
  })
})

describe('fault cases', () => {
  const tests = files('test')
    .filter((path) => path !== 'test/architecture.test.ts' && !path.startsWith('test/faults/register'))
    .map(read)

  /** A title may be put together, so a code in quotes counts too. */
  function tested({ code }: (typeof REGISTER)[number]): boolean {
    const named = new RegExp(`['"\`](?:[\\w-]+, )*${code}(?:[:,]|['"\`])`)
    return tests.some((text) => named.test(text))
  }

  it('every case of the register has a test that names it, or says why not yet', () => {
    expect(REGISTER.filter((one) => one.waitsFor === undefined && !tested(one)).map(({ code }) => code)).toEqual([])
  })

  it('no case waits although it has a test, and none is there twice', () => {
    expect(REGISTER.filter((one) => one.waitsFor !== undefined && tested(one)).map(({ code }) => code)).toEqual([])
    expect(new Set(REGISTER.map(({ code }) => code)).size).toBe(REGISTER.length)
  })
})
