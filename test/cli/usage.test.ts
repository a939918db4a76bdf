import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ParleyError } from '../../src/core/errors.ts'
import { rig } from './rig.ts'

const tooWide = (text: string): string[] => text.split('\n').filter((line) => line.length > 80)

describe('help', () => {
  test('--help names every command and the exit codes, on stdout, and exits 0', async () => {
    const { run, out, err } = await rig()
    expect(await run('--help')).toBe(0)
    for (const word of ['start', 'status', 'why', 'sessions', 'config', 'demo', '--config', 'Exit codes', '75', '78']) {
      expect(out()).toContain(word)
    }
    expect(err()).toBe('')
  })

  test.each([
    [
      ['sessions', 'list', '--help'],
      ['--all', '--limit', '--offset', '--json'],
    ],
    [
      ['why', '--help'],
      ['a link to it', 'inbox id, trace id'],
    ],
    [['help', 'demo'], ['--once']],
    [
      ['config', '--help'],
      ['check', 'schema', 'explain'],
    ],
  ])('%j describes the command and exits 0', async (argv, words) => {
    const { run, out } = await rig()
    expect(await run(...argv)).toBe(0)
    for (const word of words) expect(out()).toContain(word)
  })

  /** `sessions list`, `show`: the second is a command of the same group. */
  const page = readFileSync(new URL('../../config/operating.md', import.meta.url), 'utf8')
  const table = page.split('## Commands')[1]?.split('\n\n')[2] ?? ''
  const named = table.split('\n').flatMap((row) => {
    const cells = [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)]
    const commands = cells.map(([, text = '']) => text.replace(/ [<[].*/, '').split(' '))
    const [group = ''] = commands[0]?.length === 2 ? commands[0] : []
    return commands.map((words) => (words.length === 1 && group !== '' ? [group, ...words] : words).join(' '))
  })

  test('the page on running it names commands', () => expect(named.length).toBeGreaterThan(20))

  test.each(named)('%s of that page is a command', async (name) => {
    const { run, out } = await rig()
    expect(await run(...name.split(' '), '--help')).toBe(0)
    expect(out()).toMatch(new RegExp(`^Usage: parley ${name}( |\n)`))
    expect(tooWide(out())).toEqual([])
  })

  test('fits into 80 columns where the width of the terminal is not known', async () => {
    const { run, out } = await rig()
    await run('--help')
    expect(tooWide(out())).toEqual([])
  })

  test('--version prints the version and exits 0', async () => {
    const { run, out } = await rig()
    expect([await run('--version'), out()]).toEqual([0, '0.1.0\n'])
  })
})

test('npm run parley builds a checkout that was not built, once, and ends as the command did', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-checkout-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const program = 'console.log(process.argv.slice(2).join()), process.exit(process.argv.length - 2)'
  const build = `echo built >> log && mkdir dist && echo '${program}' > dist/main.js && touch dist/openapi.json`
  const { parley, ready } = scripts
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { parley, ready, build } }))
  const run = (...args: readonly string[]): unknown => {
    try {
      return execFileSync('npm', ['run', '-s', 'parley', '--', ...args], { cwd: folder, stdio: 'pipe' })
    } catch (error) {
      return error
    }
  }
  expect(run('config', 'check')).toMatchObject({ status: 2, stdout: Buffer.from('config,check\n') })
  expect(run('status')).toMatchObject({ status: 1 })
  expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('built\n')
})

describe('wrong usage', () => {
  test.each([
    [[], 'Usage'],
    [['sessions'], 'Usage'],
    [['config'], 'Usage'],
    [['stauts'], 'Did you mean status'],
    [['budget'], '"parley status" shows what is spent'],
    [['hooks'], '"parley config explain" shows the hooks'],
    [['bugreport'], '"parley support" writes a file'],
    [['diagnose'], 'it is "parley doctor"'],
    [['setup'], 'it is "parley init"'],
    [['stop'], 'Ctrl-C'],
    [['version'], '"parley --version"'],
    [['forget', 'me'], 'parley forget person'],
    [['import', 'openclaw', '/tmp'], 'name the folder or the file alone'],
    [['forget', '2h'], 'parley forget chat <name> --since 2h'],
    [['history'], 'parley sessions history'],
    [['move', 'a', 'b'], 'parley sessions move'],
    [['encrypt'], 'parley store encrypt'],
    [['memory', 'correct', '1', 'x'], '/memory correct <number> <text>'],
    [['undo'], 'a command for the chat'],
    [['start', 'now'], 'too many arguments'],
    [['start', '--deamon'], 'unknown option'],
    [['status', '--config'], 'argument missing'],
    [['why'], "missing required argument 'message'"],
    [['why', ''], 'must not be empty'],
    [['why', 'a', 'b'], 'too many arguments'],
    [['sessions', 'shwo', 'x'], 'Did you mean show'],
    [['sessions', 'show'], "missing required argument 'name'"],
    [['sessions', 'show', ' '], 'must not be empty'],
    [['sessions', 'list', '--limit', '0'], '1 to 200'],
    [['sessions', 'list', '--limit', '201'], '1 to 200'],
    [['sessions', 'list', '--limit', '1e1'], '1 to 200'],
    [['sessions', 'list', '--offset', '-1'], 'whole number'],
    [['sessions', 'truncate', 'cli:x', '1001'], 'from 0 to 1000'],
    [['send', 'cli:x', 'hello', '--wait', '3601'], 'from 0 to 3600'],
    [['sessions', 'list', '--offset', 'two'], 'whole number'],
  ])('%j exits 2 with a line on stderr and nothing on stdout', async (argv, line) => {
    const { run, out, err, loads } = await rig()
    expect(await run(...argv)).toBe(2)
    expect(err()).toContain(line)
    expect(out()).toBe('')
    expect(loads).toEqual([])
  })
})

describe('a command that fails', () => {
  test.each([
    ['config', 78],
    ['store_newer', 78],
    ['no_driver', 78],
    ['store_locked', 75],
    ['invalid', 2],
    ['not_found', 1],
    ['unavailable', 1],
    ['internal', 1],
  ] as const)('with %s exits %i and prints its message alone', async (code, exit) => {
    const failing = (): never => {
      throw new ParleyError(code, 'channels.telegram: is wrong\nSet it right.')
    }
    const { run, out, err } = await rig({ load: failing })
    for (const argv of [['start'], ['status'], ['config', 'check'], ['start', '--config', 'x']]) {
      expect(await run(...argv)).toBe(exit)
    }
    expect(err()).toBe('channels.telegram: is wrong\nSet it right.\n'.repeat(4))
    expect(out()).toBe('')
  })

  test('with an unknown error exits 1 with one line and says how to see the stack', async () => {
    const load = (): never => {
      throw new TypeError('x is not a function\nat nowhere')
    }
    const { run, err } = await rig({ load })
    expect(await run('status')).toBe(1)
    expect(err()).toBe('Unexpected: x is not a function (PARLEY_DEBUG=1 shows the stack)\n')
  })

  test('with a full disk exits 74 and says what to do', async () => {
    const load = (): never => {
      throw Object.assign(new Error("ENOSPC: no space left on device, open '/state/parley.db'"), { code: 'ENOSPC' })
    }
    const { run, err } = await rig({ load })
    expect(await run('start')).toBe(74)
    expect(err()).toMatch(/^ENOSPC: no space left on device, open '\/state\/parley.db'. Free some space there, or /)
  })

  test('under PARLEY_DEBUG=1 prints the stack with its causes', async () => {
    const load = (): never => {
      throw new ParleyError('config', 'outer', { cause: new Error('inner') })
    }
    const { run, err } = await rig({ load, env: { PARLEY_DEBUG: '1' } })
    expect(await run('status')).toBe(78)
    expect(err()).toMatch(/ParleyError: outer\n {4}at .*Caused by: Error: inner\n {4}at /s)
  })

  test('with something that is no error exits 1 too', async () => {
    const { run, err } = await rig({ runDemo: () => Promise.reject('a text') })
    expect([await run('demo'), err()]).toEqual([1, 'Unexpected: a text (PARLEY_DEBUG=1 shows the stack)\n'])
  })
})

describe('--config', () => {
  test.each([
    [['--config', 'a.yaml', 'config', 'check']],
    [['config', 'check', '--config', 'a.yaml']],
    [['config', 'check', '-c', 'a.yaml']],
    [['config', '--config=a.yaml', 'check']],
  ])('%j loads that file', async (argv) => {
    const { run, loads } = await rig()
    expect([await run(...argv), loads]).toEqual([0, ['a.yaml']])
  })

  test('absent leaves the choice to the loader', async () => {
    const { run, loads } = await rig()
    expect([await run('config', 'check'), loads]).toEqual([0, [undefined]])
  })
})

describe('demo', () => {
  test.each([
    [['demo'], false],
    [['demo', '--once'], true],
  ])('%j hands on the choice and the exit code', async (argv, once) => {
    const asked: unknown[] = []
    const runDemo = async (options: unknown): Promise<number> => {
      asked.push(options)
      return 1
    }
    const { run } = await rig({ runDemo })
    expect([await run(...argv), asked]).toEqual([1, [{ once }]])
  })
})
