import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commandIn, isOurs, plistText, type UnitFacts, unitText } from '../../src/cli/service/unit-file.ts'
import type { Machine, Ran } from '../../src/core/machine.ts'
import { rig } from './rig.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const SHIPPED = readFileSync(join(ROOT, 'systemd/parley.service'), 'utf8')

const FACTS: UnitFacts = {
  scope: 'system',
  command: ['/usr/bin/node', '/usr/lib/node_modules/parley/dist/main.js'],
  config: '/etc/parley/parley.yaml',
  variables: '/etc/parley/parley.env',
  environment: {},
  credentials: [{ name: 'telegram-token', file: '/etc/parley/telegram-token' }],
}

const directives = (text: string) => text.split('\n').filter((line) => /^[A-Z]\w+=/.test(line))
const nameOf = (line: string) => line.split('=')[0] ?? ''

describe('unitText', () => {
  test('the unit of the system has every directive of the shipped one, its paths filled in', () => {
    const text = unitText(SHIPPED, FACTS)
    const added = [
      'Environment=PATH=/usr/bin:/usr/local/bin:/bin',
      'LoadCredential=telegram-token:/etc/parley/telegram-token',
    ]
    expect(directives(text).filter((line) => !directives(SHIPPED).includes(line))).toEqual([
      'ExecStart=/usr/bin/node /usr/lib/node_modules/parley/dist/main.js start --config /etc/parley/parley.yaml',
      ...added,
    ])
    expect(directives(text)).toHaveLength(directives(SHIPPED).length + added.length)
    expect(isOurs(text)).toBe(true)
    expect(isOurs(text.replace('MemoryMax=1G', 'MemoryMax=2G'))).toBe(false)
  })

  test('the unit of a user leaves out every directive that needs a namespace, another user or a capability', () => {
    const dropped = directives(SHIPPED).map(nameOf)
    const kept = directives(unitText(SHIPPED, { ...FACTS, scope: 'user' })).map(nameOf)
    expect([...new Set(dropped.filter((name) => !kept.includes(name)))].toSorted()).toEqual([
      ...[
        'After',
        'AmbientCapabilities',
        'CacheDirectory',
        'CacheDirectoryMode',
        'CapabilityBoundingSet',
        'DevicePolicy',
      ],
      ...[
        'DynamicUser',
        'IPAddressDeny',
        'KeyringMode',
        'PrivateDevices',
        'PrivateMounts',
        'PrivateTmp',
        'PrivateUsers',
      ],
      ...['ProcSubset', 'ProtectClock', 'ProtectControlGroups', 'ProtectHome', 'ProtectHostname', 'ProtectKernelLogs'],
      ...[
        'ProtectKernelModules',
        'ProtectKernelTunables',
        'ProtectProc',
        'ProtectSystem',
        'RemoveIPC',
        'StateDirectory',
      ],
      ...['StateDirectoryMode', 'Wants'],
    ])
    expect(unitText(SHIPPED, { ...FACTS, scope: 'user' })).toContain('\nWantedBy=default.target\n')
  })

  test('a path with spaces, percent, dollar and quotes is one word for systemd', () => {
    const odd = { ...FACTS, config: '/srv/a b/100%/$x/"q".yaml' }
    expect(unitText(SHIPPED, { ...FACTS, config: "/srv/it's #1.yaml" })).toContain(
      'Documentation=file:///srv/it%%27s%%20%%231.yaml\n',
    )
    expect(unitText(SHIPPED, odd)).toContain(' start --config "/srv/a b/100%%/$$x/\\"q\\".yaml"\n')
    const words = [...odd.command, 'start', '--config', odd.config]
    expect(commandIn(unitText(SHIPPED, odd))).toEqual(words)
    expect(commandIn(plistText({ ...odd, config: '/a&lt;b' }, '/log'))).toEqual([...words.slice(0, -1), '/a&lt;b'])
  })
})

test('the property list of launchd runs the same command, escapes its text, and knows whose it is', () => {
  const text = plistText({ ...FACTS, config: '/Users/a&b/parley.yaml' }, '/Users/ada/Library/Logs/parley.log')
  expect(text).toContain('<string>/Users/a&amp;b/parley.yaml</string>')
  expect(text).toContain('<key>KeepAlive</key><true/>')
  expect([isOurs(text), isOurs(text.replace('<integer>30', '<integer>5'))]).toEqual([true, false])
})

/** A machine that answers as a test says, over a package folder with the shipped unit. */
function machineIn(
  folder: string,
  given: Partial<Machine> & { answers?: Readonly<Record<string, Partial<Ran>>> } = {},
) {
  const calls: string[] = []
  const { answers = {}, ...rest } = given
  const program = join(folder, 'package')
  for (const name of ['dist', 'systemd']) mkdirSync(join(program, name), { recursive: true })
  writeFileSync(join(program, 'dist/openapi.json'), '{}')
  writeFileSync(join(program, 'systemd/parley.service'), SHIPPED)
  const machine: Machine = {
    ...{ platform: 'linux', node: '/usr/bin/env', program },
    user: { name: 'ada', uid: 501, home: folder },
    async run(command, args) {
      const line = [command, ...args].join(' ')
      calls.push(line)
      const found = Object.entries(answers).find(([start]) => line.startsWith(start))?.[1]
      return { code: 0, stdout: '', stderr: '', ...found }
    },
    ...rest,
  }
  return { machine, calls }
}

/** The command line over such a machine, and a configuration that anybody may read. */
async function commandLine(
  given: Parameters<typeof machineIn>[1] = {},
  text = 'http: { port: 0 }\n',
  env: Readonly<Record<string, string>> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-machine-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'parley.yaml')
  writeFileSync(config, text, { mode: 0o644 })
  chmodSync(config, 0o644)
  const { machine, calls } = machineIn(folder, given)
  const cli = await rig({ machine: async () => machine, env })
  return { cli, calls, config, folder }
}

/** What launchctl prints of a service (written after its documented form). */
const PRINTED =
  'gui/501/parley = {\n\tactive count = 1\n\ttype = LaunchAgent\n\tstate = running\n\truns = 3\n\tpid = 812\n\tlast exit code = 78: EX_CONFIG\n}\n'

describe('on macOS', () => {
  test('install enables the service before it is bootstrapped, and shows its state', async () => {
    const { cli, calls, config, folder } = await commandLine({
      platform: 'darwin',
      answers: { 'launchctl print': { stdout: PRINTED } },
    })
    await cli.run('service', 'install', '--config', config, '--dry-run')
    expect(cli.out()).toContain(
      `launchctl enable gui/501/parley\nlaunchctl bootstrap gui/501 ${folder}/Library/LaunchAgents/parley.plist`,
    )
    expect(calls).toEqual([])

    expect(await cli.run('service', 'status')).toBe(1)
    expect(cli.out()).toContain('There is no service')
    mkdirSync(join(folder, 'Library/LaunchAgents'), { recursive: true })
    writeFileSync(join(folder, 'Library/LaunchAgents/parley.plist'), plistText(FACTS, '/log'))
    expect(await cli.run('service', 'status')).toBe(0)
    expect(cli.out()).toContain(
      'State      running, starts with the machine\nConfig     /etc/parley/parley.yaml\n' +
        'Gone       /usr/lib/node_modules/parley/dist/main.js, which it starts\nMend it    parley service install --user\n' +
        'Restarts   2 restarts by the service manager\n',
    )
    expect(cli.out()).toContain('Last exit  78: the configuration or the installation is wrong')
  })

  test('install names no file of variables, which launchd does not read', async () => {
    const config = 'http: { port: 0 }\nmodels: { a: { baseUrl: "http://a", apiKey: "${env:KEY}" } }\n'
    const { cli, config: file, folder } = await commandLine({ platform: 'darwin' }, config)
    writeFileSync(join(folder, 'parley.env'), 'KEY=k\n')
    await cli.run('service', 'install', '--config', file, '--dry-run')
    expect(cli.out()).toContain('Write ${file:KEY} for ${env:KEY}')
    expect(cli.out()).not.toContain('parley.env')
  })

  test('uninstall boots the service out and removes its file', async () => {
    const { cli, calls, folder } = await commandLine({
      platform: 'darwin',
      answers: { 'launchctl print': { stdout: PRINTED } },
    })
    const file = join(folder, 'Library/LaunchAgents/parley.plist')
    mkdirSync(join(folder, 'Library/LaunchAgents'), { recursive: true })
    writeFileSync(file, plistText(FACTS, '/log'))
    expect(await cli.run('service', 'uninstall')).toBe(0)
    expect(calls).toContain('launchctl bootout gui/501/parley')
    expect(existsSync(file)).toBe(false)
  })

  test('a service of the machine is refused with the command for one of the user', async () => {
    const { cli, config } = await commandLine({ platform: 'darwin' })
    expect(await cli.run('service', 'install', '--system', '--config', config)).toBe(78)
    expect(cli.err()).toContain('parley service install --user')
  })
})

describe('install --system refuses', () => {
  const asSystem = async (text?: string, given: Partial<Machine> = {}) => {
    const made = await commandLine(given, text)
    return { ...made, run: () => made.cli.run('service', 'install', '--system', '--dry-run', '--config', made.config) }
  }

  test.runIf(process.getuid?.() === 0)('a program in a home folder, which the service would not see', async () => {
    const home = mkdtempSync('/root/.parley-home-')
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const { machine } = machineIn(home)
    const { cli, run } = await asSystem(undefined, { program: machine.program })
    expect(await run()).toBe(78)
    expect(cli.err()).toMatch(/lies in a home folder.*ProtectHome.*\/usr\/local.*parley service install --user/s)
  })

  test('a configuration that its account cannot read', async () => {
    const { cli, run, config } = await asSystem()
    chmodSync(config, 0o600)
    expect(await run()).toBe(78)
    expect(cli.err()).toContain(`\nRun: chmod 644 ${config}`)
    writeFileSync(config, 'models: { a: { kind: openai, apiKey: "sk-abcdef0123456789" } }\n')
    expect(await run()).toBe(78)
    expect(cli.err()).toContain('A secret stands in it, models.a.apiKey:\nwrite ${credential:NAME} there, then run')
  })

  test('a prompt and a skill that its account cannot read, as a restore writes them', async () => {
    const { cli, run, config, folder } = await asSystem('agents: [{ id: main, prompt: "a b.md", skills: skills }]\n')
    mkdirSync(join(folder, 'skills'), { mode: 0o700 })
    writeFileSync(join(folder, 'skills/one.md'), 'One', { mode: 0o644 })
    writeFileSync(join(folder, 'a b.md'), 'You are Parley.', { mode: 0o600 })
    expect(await run()).toBe(78)
    expect(cli.err()).toContain(
      `who cannot read what the configuration\nnames. Run: chmod a+rX '${folder}/a b.md' ${folder}/skills\n`,
    )
    for (const path of ['a b.md', 'skills']) chmodSync(join(folder, path), 0o755)
    writeFileSync(config, readFileSync(config))
    expect(await run()).toBe(0)
  })

  test('a secret file of root, with the credential to write in its place', async () => {
    const { cli, run, folder, config } = await asSystem('models: { a: { apiKey: "${file:model-key}" } }\n')
    writeFileSync(join(folder, 'model-key'), 'k', { mode: 0o600 })
    expect(await run()).toBe(78)
    const [, sed = ''] = /sudo (sed .*)/.exec(cli.err()) ?? []
    expect(spawnSync('sh', ['-c', sed]).status).toBe(0)
    expect(readFileSync(config, 'utf8')).toContain('apiKey: "${credential:model-key}"')
  })

  test('a secret file that is missing', async () => {
    const { cli, run, folder } = await asSystem('models: { a: { apiKey: "${file:model-key}" } }\n')
    expect(await run()).toBe(78)
    expect(cli.err()).toContain(`There is no ${folder}/model-key. Name it as a credential:\n  sudo sed`)
  })

  test('a checkout that was not built', async () => {
    const { cli, run, folder } = await asSystem()
    rmSync(join(folder, 'package/dist/openapi.json'))
    expect(await run()).toBe(78)
    expect(cli.err()).toContain('npm run build')
  })

  test.each([
    ['the folder of the configuration', 'a\nExecStartPre=-evil', 'http: { port: 0 }\n'],
    ['the name of a credential', 'plain', 'models: { a: { apiKey: "${credential:a\\nExecStartPre=-evil}" } }\n'],
  ])('a line of its own in %s, which would be a directive', async (_where, name, text) => {
    const { cli, folder } = await commandLine({}, text)
    const config = join(folder, name, 'parley.yaml')
    mkdirSync(join(folder, name))
    writeFileSync(config, text)
    chmodSync(config, 0o644)
    expect(await cli.run('service', 'install', '--system', '--dry-run', '--config', config)).toBe(78)
    expect(cli.err()).toMatch(/ExecStartPre=-evil.*\nhas a control character in it: rename it first\./)
    expect(cli.out()).toBe('')
  })

  test('everybody but root, with sudo as the remedy', async () => {
    const { cli, config } = await commandLine()
    expect(await cli.run('service', 'install', '--system', '--config', config)).toBe(1)
    expect(cli.err()).toContain('sudo')
  })
})

test('install --user under sudo says that it is about root, and what to type instead', async () => {
  const given = { user: { name: 'root', uid: 0, home: '/root' } }
  const { cli, config } = await commandLine(given, undefined, { SUDO_USER: 'ada' })
  expect(await cli.run('service', 'install', '--user', '--config', config, '--dry-run')).toBe(0)
  expect(cli.err()).toContain('For one of ada, type without sudo:\n  parley service install --user\n')
})

test.each([
  ['Result=watchdog\nActiveState=activating\nSubState=auto-restart\nNRestarts=4', 'it gave no sign of life'],
  ['Result=oom-kill\nActiveState=failed\nSubState=failed', 'MemoryMax'],
  [
    'Result=exit-code\nExecMainCode=1\nExecMainStatus=203\nActiveState=activating\nSubState=auto-restart',
    'Node or the program is no longer where',
  ],
  ['Result=exit-code\nExecMainCode=1\nExecMainStatus=243\nActiveState=failed\nSubState=failed', 'LoadCredential'],
  ['Result=signal\nExecMainCode=2\nExecMainStatus=9\nActiveState=failed\nSubState=failed', 'ended by signal 9'],
])('status says in words: %s', async (shown, words) => {
  const { cli, folder } = await commandLine({ answers: { 'systemctl --user show': { stdout: `${shown}\n` } } })
  mkdirSync(join(folder, '.config/systemd/user'), { recursive: true })
  writeFileSync(join(folder, '.config/systemd/user/parley.service'), '[Service]\n')
  expect(await cli.run('service', 'status')).toBe(1)
  expect(cli.out()).toContain(words)
  expect(cli.out()).toContain('not as "parley service install" writes it')
})
