import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = new URL('../../', import.meta.url).pathname
const README = read('README.md')
const { scripts } = JSON.parse(read('package.json'))

/** Commands that take long, or need a server: each with a file that runs it, and the words there that do. */
const RUN_ELSEWHERE: Readonly<Record<string, readonly [file: string, words: string]>> = {
  'npm run parley -- init': ['test/e2e/init.test.ts', 'newcomer.types('],
  'npm run parley -- doctor': ['test/e2e/doctor-house.ts', "run('doctor'"],
  'npm run parley -- backup': ['test/backup/backup.test.ts', "['backup', '--json']"],
  'npm ci': ['.ci/run', '\nnpm ci || exit 1\n'],
  'npm run demo': ['test/e2e/demo-by-hand.test.ts', "[MAIN, 'demo']"],
  'npm install <this folder>': ['test/e2e/programs.test.ts', "execFileSync('npm', ['install'"],
  'npm run check': ['.ci/run', '\nnpm run check || exit 1\n'],
  'npm test': ['.ci/run', '\nrun_tests npm test\n'],
  "TELEGRAM_BOT_TOKEN='<token>' npm start": ['test/e2e/first-run.test.ts', "home.run('start')"],
}

const PROSE = README.replaceAll(/```[\s\S]*?```/g, '')
const commands = [
  ...[...PROSE.matchAll(/^ {4}(\S.*)$/gm)].map(([, line = '']) => line),
  ...[...PROSE.matchAll(/`((?:[A-Z_]+=\S+ )?(?:npm|npx|node|parley) [^`\n]+)`/g)].map(([, line = '']) => line),
].filter((line, index, all) => all.indexOf(line) === index)

test('the README has two commands to try it, and tells how to go on', () => {
  expect(commands.slice(0, 2)).toEqual(['npm ci', 'npm run demo'])
  expect(commands).toContain('npm run parley -- config check')
  expect(README.split('\n').length).toBeLessThan(100)
})

test.each(commands.filter((command) => command in RUN_ELSEWHERE))('`%s` of the README is run by a test', (command) => {
  const [file = '', words = ''] = RUN_ELSEWHERE[command] ?? []
  expect(read(file)).toContain(words)
  const script = /npm (?:run )?(start|demo|check|test)$/.exec(command)?.[1]
  if (script !== undefined) expect(scripts).toHaveProperty(script)
})

test.each(commands.filter((command) => !(command in RUN_ELSEWHERE)))(
  '`%s` of the README does what it says',
  (command) => {
    const [, typed = ''] = /^npm run parley -- (.+)$/.exec(command) ?? []
    const args = typed.replace("'<link or id>'", '4711').split(' ')
    const folder = mkdtempSync(join(tmpdir(), 'parley-readme-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'parley.yaml'), realistic())
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      PARLEY_CONFIG: join(folder, 'parley.yaml'),
      TELEGRAM_BOT_TOKEN: '5:a',
    }
    const run = spawnSync(process.execPath, [join(ROOT, 'dist/main.js'), ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })

    expect(scripts).toHaveProperty('parley')
    if (typed === 'config check') {
      expect([run.status, run.stderr]).toEqual([0, ''])
      expect(run.stdout.match(/warning: .*/g)).toEqual([expect.stringContaining('no model key is set')])
    } else {
      // No daemon runs here, and there is no store yet: it is understood, and says so.
      expect(`${run.stdout}${run.stderr}`).toMatch(/no daemon is running|not running/i)
    }
  },
)

test('the exchange that the README shows is one of the demo', () => {
  const shown = /```\n([\s\S]*?)```/.exec(README)?.[1] ?? ''
  const said = [...shown.matchAll(/(?:Bo|Ada|Mallory) {2,}(?:@parley )?(\S.*)$/gm)].map(([, text = '']) => text)
  const tour = ['telegram', 'memory'].map((name) => read(`src/rehearsal/demo/tour-${name}.ts`)).join('')
  expect(said).toHaveLength(6)
  expect(said.filter((text) => !tour.includes(text))).toEqual([])
  expect(shown.split('\n').filter((line) => line.length > 80)).toEqual([])
})

test('every page the README links to exists', () => {
  const links = [...README.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path = '']) => path)
  expect(links.length).toBeGreaterThan(5)
  expect(links.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

/** The configuration of the README, with ids that are somebody's. */
function realistic(): string {
  const yaml = /```yaml\n([\s\S]*?)```/.exec(README)?.[1] ?? ''
  expect(yaml.trim().split('\n')).toHaveLength(11)
  return yaml.replaceAll(/1{9}|2{9}/g, (id) => `${Number(id) * 7 + 13}`)
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}
