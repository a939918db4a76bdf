import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { configJsonSchema } from '../../src/config/json-schema.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { configReference } from '../../src/config/reference.ts'
import { peerFolder, TOKENS, temporary } from './peer-rig.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const PAGE = readFileSync(join(ROOT, 'config/coming-from.md'), 'utf8')
const HAS_INIT = existsSync(join(ROOT, 'src/cli/commands/init.ts'))

const COMMANDS = [
  ...[...PAGE.matchAll(/^ {4}(\S.*)$/gm)].map(([, line = '']) => line),
  ...[...PAGE.matchAll(/`((?:npm|parley) [^`\n]+)`/g)].map(([, line = '']) => line),
].filter((line, at, all) => all.indexOf(line) === at)

/** The folder of each program, with as much in it as it takes. */
const PEERS = {
  openclaw: { 'openclaw.json': `{ channels: { telegram: { botToken: '${TOKENS.telegram}' } } }` },
  hermes: { '.env': `TELEGRAM_BOT_TOKEN=${TOKENS.telegram}` },
  nanoclaw: { '.env': `TELEGRAM_BOT_TOKEN=${TOKENS.telegram}` },
} as const

function run(args: readonly string[], home: string) {
  const env = { PATH: process.env.PATH, HOME: home, TELEGRAM_BOT_TOKEN: TOKENS.telegram }
  const { stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'dist/main.js'), ...args], {
    ...{ cwd: home, env, encoding: 'utf8', timeout: 60_000 },
  })
  return `${stdout}${stderr}`
}

describe('the page about other programs', () => {
  it('has at most 120 lines, each as wide as a page may be', () => {
    expect(PAGE.trimEnd().split('\n').length).toBeLessThanOrEqual(120)
    expect(PAGE.split('\n').filter((line) => line.length > 150)).toEqual([])
  })

  const init = COMMANDS.filter((line) => line.startsWith('npm run parley -- init'))

  it.skipIf(!HAS_INIT).each(init)('`%s` reads the folder at its usual place', (line) => {
    const [, kind = ''] = /--from (\w+)$/.exec(line) ?? []
    const place = { openclaw: '.openclaw', hermes: '.hermes', nanoclaw: 'nanoclaw' }[kind] ?? ''
    const files = PEERS[kind as keyof typeof PEERS]
    const home = peerFolder(Object.fromEntries(Object.entries(files).map(([name, text]) => [join(place, name), text])))
    const out = run(['init', '--from', kind, '--yes', '--no-start', '--dry-run'], home)
    expect(out).toContain('channels:')
    expect(out).not.toContain('canary')
  })

  const others = COMMANDS.filter((line) => !init.includes(line) && !line.startsWith('parley init'))

  it.each(others)('`%s` is understood', (line) => {
    const [, typed = ''] = /^npm run parley -- (.+)$/.exec(line) ?? []
    if (typed === '') {
      expect(line).toBe("TELEGRAM_BOT_TOKEN='<token>' npm start")
      return
    }
    const out = run(typed.replace('~/', './').replace(/<\w+>/g, 'x').split(' '), temporary())
    expect(out).not.toMatch(/unknown (?:command|option)|too many arguments/)
  })

  test('its example is refused with the ids of the page, and valid with those of its reader', async () => {
    const folder = temporary()
    const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(PAGE) ?? []
    for (const name of ['own-tools', 'prompts']) mkdirSync(join(folder, name))
    copyFileSync(join(ROOT, 'config/own-tools/dice.ts'), join(folder, 'own-tools/dice.ts'))
    copyFileSync(join(ROOT, 'config/prompts/agent.md'), join(folder, 'prompts/agent.md'))
    const env = { HOME: folder, TELEGRAM_BOT_TOKEN: TOKENS.telegram }
    const loaded = (text: string) => {
      writeFileSync(join(folder, 'parley.yaml'), text)
      return loadConfig({ path: 'parley.yaml', env, cwd: folder, catalogue })
    }
    await expect(loaded(yaml)).rejects.toThrow(
      /-1001234567890 is .* example.*telegram:111111111 .*telegram:222222222 /s,
    )
    const ids: Readonly<Record<string, string>> = { 1: '418300271', 2: '529411382', '-': '-1001830027144' }
    const { config } = await loaded(yaml.replace(/-?\d{9,}/g, (id) => ids[id.charAt(0)] ?? id))
    expect(config.agents[0]?.tools).toContain('own.dice')
  })

  test('each setting that it names is one', () => {
    const reference = configReference(configJsonSchema(catalogue))
    const ours = PAGE.replaceAll(/^\| [^|]* \|/gm, '')
    const named = [...ours.matchAll(/`((?:routing|session|agents\[\]|tools|people|schedules|models)(?:\.\w+)+)/g)]
    const settings = new Set(named.map(([, name = '']) => name.replace(/^people\.\w+/, 'people.<name>')))
    expect(settings.size).toBeGreaterThan(8)
    expect([...settings].filter((name) => !reference.includes(`\`${name}`))).toEqual([])
  })

  test('each page and file that it links to exists', () => {
    const links = [...PAGE.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path = '']) => path)
    expect([...links, 'own-tools/dice.ts'].filter((path) => !existsSync(join(ROOT, 'config', path)))).toEqual([])
  })
})
