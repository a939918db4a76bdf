import { execFile, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fakeSystemd } from '../fakes/systemd.ts'
import { withDatabase } from '../store/temp-database.ts'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname
const OLD = new URL('../fixtures/imports/molf', import.meta.url).pathname
const HAS_VERIFY = spawnSync('systemd-analyze', ['--version']).status === 0

/** A home with a configuration, and a service manager that is played by a stand-in. */
function home(config = 'http: { port: 0 }\n', options?: Parameters<typeof fakeSystemd>[1]) {
  const folder = mkdtempSync(join(tmpdir(), 'parley service-'))
  const systemd = fakeSystemd(folder, options)
  onTestFinished(() => {
    systemd.end()
    rmSync(folder, { recursive: true, force: true })
  })
  const own = join(folder, '.config/parley')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'parley.yaml'), config, { mode: 0o600 })
  const env = { HOME: folder, PATH: `${systemd.bin}:${process.env.PATH}` }
  const parley = async (...args: readonly string[]) => {
    const done = promisify(execFile)(process.execPath, [MAIN, ...args], { env })
    const { stdout, stderr, code } = await done.then((said) => ({ ...said, code: 0 })).catch((error) => error)
    return { stdout: String(stdout), stderr: String(stderr), code: Number(code) }
  }
  return { folder, own, systemd, parley, unit: join(folder, '.config/systemd/user/parley.service') }
}

describe('parley service', () => {
  test('install writes the unit, starts the daemon, waits for READY, and the command line finds it', async () => {
    const { parley, unit, systemd } = home()
    const installed = await parley('service', 'install', '--user')

    expect(installed).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('State      active (running), starts when you log in'),
    })
    expect(installed.stdout).toContain('sudo loginctl enable-linger')
    expect(readFileSync(unit, 'utf8')).toMatch(/^ExecStart=\S+\/node "?\S+dist\/main\.js"? start --config "/m)
    expect(await parley('status')).toMatchObject({ code: 0 })
    expect(await parley('service', 'status')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('active (running)'),
    })
    expect(systemd.calls()).toContain('systemctl --user enable --now parley.service')
  })

  test('install says which channel is down for want of a variable that the service does not have', async () => {
    const { parley, own } = home(
      'channels: { telegram: { accounts: { default: { token: "\u0024{env:BOT_TOKEN}" } } } }\n',
    )
    const installed = await parley('service', 'install', '--user')

    expect(installed).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/telegram is down: .*the variable BOT_TOKEN is not set/),
    })
    expect(installed.stderr).toContain(`Put BOT_TOKEN=... into ${join(own, 'parley.env')}`)
  })

  test('install once more replaces the unit that it wrote and restarts the daemon', async () => {
    const { parley, systemd } = home(undefined, { lingers: true })
    await parley('service', 'install', '--user')
    const again = await parley('service', 'install', '--user', '--json')

    expect(JSON.parse(again.stdout)).toMatchObject({ active: true, enabled: true, unit: 'ours', lingers: true })
    expect(systemd.calls()).toContain('systemctl --user restart parley.service')
  })

  test('the service of another configuration is neither replaced nor removed unless --force is given', async () => {
    const { parley, unit, own, folder } = home()
    await parley('service', 'install', '--user')
    const [mine, other] = [join(own, 'parley.yaml'), join(folder, 'work.yaml')]
    writeFileSync(other, 'http: { port: 0 }\n', { mode: 0o600 })
    const before = readFileSync(unit, 'utf8')
    const both = expect.stringMatching(new RegExp(`has another configuration,\n${mine}\nnot ${other}\n`))
    for (const words of [
      ['service', 'install', '--user'],
      ['service', 'uninstall'],
      ['uninstall', '--yes'],
    ])
      expect(await parley(...words, '--config', other)).toMatchObject({ code: 1, stderr: both })
    expect(readFileSync(unit, 'utf8')).toBe(before)
    expect((await parley('service', 'status')).stdout).toContain(`Config     ${mine}\n`)

    expect(await parley('service', 'install', '--user', '--config', other, '--force')).toMatchObject({ code: 0 })
    expect((await parley('service', 'uninstall')).stdout).toContain(`It ran ${other}.\n`)
  })

  test('a Node that has gone since is named while the daemon still runs, with the command that mends it', async () => {
    const { parley, unit, folder } = home()
    await parley('service', 'install', '--user')
    const node = join(folder, 'v20.19.2/bin/node')
    writeFileSync(unit, readFileSync(unit, 'utf8').replace(/^ExecStart=\S+/m, `ExecStart="${node}"`))
    const mend = 'parley service install --user'
    expect(await parley('service', 'status')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Gone       ${node}, which it starts\nMend it    ${mend}\n`),
    })
    const { findings } = JSON.parse((await parley('doctor', 'unit', '--json')).stdout)
    expect(findings).toContainEqual(
      expect.objectContaining({ check: 'program', says: `${node}, which the unit starts, is gone`, remedy: mend }),
    )
  })

  test('uninstall stops the daemon, removes the unit, and leaves configuration and data', async () => {
    const { parley, unit, own, folder } = home()
    await parley('service', 'install', '--user')

    expect(await parley('service', 'uninstall')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is removed'),
    })
    expect(existsSync(unit)).toBe(false)
    expect(existsSync(join(own, 'parley.yaml'))).toBe(true)
    expect(existsSync(join(folder, '.local/state/parley/parley.db'))).toBe(true)
    expect(await parley('status')).toMatchObject({ code: 1 })
    expect(await parley('service', 'status')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('There is no service'),
    })
    expect(await parley('service', 'uninstall')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('There is no service'),
    })
  })

  test('a daemon that ends with 78 is reported with the meaning of 78 and the command for its log', async () => {
    const { parley, own, folder } = home()
    const state = join(folder, '.local/state')
    mkdirSync(state, { recursive: true })
    writeFileSync(join(state, 'parley'), 'in the way')
    const installed = await parley('service', 'install', '--user')

    expect(installed.code).toBe(1)
    expect(installed.stdout).toContain('Last exit  78: the configuration or the installation is wrong')
    expect(installed.stderr).toContain('journalctl --user -u parley')
    expect(existsSync(own)).toBe(true)
  })

  test('--dry-run prints the unit and the commands, and neither writes nor runs anything', async () => {
    const { parley, unit, systemd } = home()
    const { code, stdout } = await parley('service', 'install', '--user', '--dry-run')

    expect(code).toBe(0)
    expect(stdout).toContain('systemctl --user enable --now parley.service')
    expect([existsSync(unit), systemd.calls()]).toEqual([false, []])
  })

  test('a unit that somebody changed stays, with the difference, until --force is given', async () => {
    const { parley, unit } = home()
    await parley('service', 'install', '--user')
    const changed = readFileSync(unit, 'utf8').replace('MemoryMax=1G', 'MemoryMax=2G')
    writeFileSync(unit, changed)
    const again = await parley('service', 'install', '--user')

    expect(again).toMatchObject({ code: 1, stdout: '' })
    expect(again.stderr).toContain('- MemoryMax=2G\n')
    expect(again.stderr).toContain('+ MemoryMax=1G\n')
    expect(readFileSync(unit, 'utf8')).toBe(changed)
    expect(await parley('service', 'uninstall')).toMatchObject({ code: 1 })
    expect(await parley('service', 'install', '--user', '--force')).toMatchObject({ code: 0 })
  })

  test('a daemon that was started by hand is named instead of a second one being started', async () => {
    const { parley, unit, folder, systemd } = home()
    const child = promisify(execFile)(process.execPath, [MAIN, 'start'], {
      env: { HOME: folder, PATH: process.env.PATH },
    })
    child.catch(() => undefined)
    onTestFinished(() => void child.child.kill('SIGKILL'))
    await expect.poll(async () => (await parley('status')).code).toBe(0)

    expect(await parley('service', 'install', '--user')).toMatchObject({
      code: 75,
      stderr: expect.stringContaining('Ctrl-C'),
    })
    expect(existsSync(unit)).toBe(false)
    expect(systemd.calls()).not.toContain('systemctl --user enable --now parley.service')
  })

  test('variables and credentials that the service will miss are named with the file to put them in', async () => {
    const { parley, own } = home(
      'http: { port: 0 }\nmodels:\n  a: { kind: openai, baseUrl: "http://127.0.0.1:1/${env:MODEL_PATH}", apiKey: "${credential:key}" } # ${env:UNUSED}\n  b: { kind: openai, baseUrl: "http://127.0.0.1:1", apiKey: "${file:missing}" }\n',
    )
    writeFileSync(join(own, 'parley.env'), 'OTHER=1\n')
    const { stdout } = await parley('service', 'install', '--user', '--dry-run')

    expect(stdout).toContain(`LoadCredential=key:${own}/key\n`)
    expect(stdout).toContain(`needs the secret ${own}/key: put it there`)
    expect(stdout).toContain(`needs the secret ${own}/missing: put it there`)
    expect(stdout).toContain(`Put MODEL_PATH=... into ${own}/parley.env`)
    expect(stdout).not.toContain('UNUSED')
  })

  test('a line of parley.env that systemd reads in another way than a shell is named', async () => {
    const servers = ['A', 'B', 'C'].map(
      (name) => `${name.toLowerCase()}: { baseUrl: "http://a", apiKey: "\${env:${name}}" }`,
    )
    const { parley, own } = home(`http: { port: 0 }\nmodels: { ${servers.join(', ')} }\n`)
    writeFileSync(join(own, 'parley.env'), 'export A=1\nB=2 # mine\nC = 3\n')
    const { stdout } = await parley('service', 'install', '--user', '--dry-run')
    expect(stdout).toContain('systemd does not know "export": take that word out before A.')
    expect(stdout).toContain('the comment behind B belongs to its value: give it a line of its own.')
    expect(stdout).not.toContain('Put C=')
  })

  test('without a service manager the sentence says what runs the daemon instead', async () => {
    const { parley, systemd } = home()
    for (const name of ['systemctl', 'loginctl']) rmSync(join(systemd.bin, name))
    writeFileSync(
      join(systemd.bin, 'systemctl'),
      '#!/bin/sh\necho "Failed to connect to bus: No medium found" >&2\nexit 1\n',
    )
    chmodSync(join(systemd.bin, 'systemctl'), 0o755)

    expect(await parley('service', 'install', '--user')).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/No medium found.*\n.*loginctl enable-linger/),
    })
  })

  test.runIf(HAS_VERIFY)('systemd-analyze has nothing to say about the unit of a user, in an odd folder', async () => {
    const { parley, folder } = home()
    const config = join(folder, `it's 100% "odd" #1`, 'parley.yaml')
    mkdirSync(dirname(config))
    writeFileSync(config, 'tools: { mcp: { a: { command: "/bin/true", env: { A: "${credential:key}" } } } }\n')
    const { stdout } = await parley('service', 'install', '--user', '--dry-run', '--config', config)
    const file = join(folder, 'parley.service')
    writeFileSync(file, stdout.split('\n# Then:')[0] ?? '')
    const verified = spawnSync('systemd-analyze', ['--user', 'verify', '--man=no', file], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
    })

    expect(`${verified.stdout}${verified.stderr}`).toBe('')
    expect(verified.status).toBe(0)
  })
})

/** The names below a home that is the folder of the data too, as its owner and Parley have filled it. */
const OTHERS = [
  ...['media/holiday.jpg', 'media/ab/holiday.jpg', 'media/cd/ef', 'documents/letter.txt', 'backup.json', 'd/note.txt'],
  ...['before-restore-2026/parley.db', 'backups/parley-1/parley.db', 'copies/parley-1/parley.db', 'elsewhere/kept'],
  ...['parley.dbnotes', 'parley.db.bak', 'parley.db.before-upgrade', 'parley-notes.tgz', 'mcp-logins/mine.txt'],
]
const DIGEST = `ab${'0'.repeat(62)}`
const OWN = [
  ...[`media/ab/${DIGEST}`, `media/ab/${DIGEST}.sealed`, 'last-backup', 'backups.lock', 'mcp-logins/tracker.json'],
  ...['restoring/parley.db', `restoring/media/ab/${DIGEST}`],
  ...['parley.db.before-v3', 'parley.db.marker', 'parley.db.lock', 'parley.db'],
]

test('service uninstall removes the unit where the service manager cannot be asked, and says what it did not do', async () => {
  const { parley, unit, systemd } = home()
  await parley('service', 'install', '--user')
  writeFileSync(join(systemd.bin, 'systemctl'), '#!/bin/sh\necho "Failed to connect to bus" >&2\nexit 1\n')

  expect(await parley('service', 'uninstall')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${unit} is removed.\n`),
    stderr: expect.stringMatching(/only removed, not asked to stop\. .*Failed to connect to bus.*parley status/s),
  })
  expect(existsSync(unit)).toBe(false)
  expect(await parley('service', 'status')).toMatchObject({ code: 1, stdout: expect.stringContaining('no service') })
})

test('parley uninstall names the files in which its completions were made known to a shell', async () => {
  const { parley, folder } = home()
  writeFileSync(join(folder, '.bashrc'), 'PS1=x\nsource <(parley completions bash)\n')
  writeFileSync(join(folder, '.zshrc'), 'alias p=parley\n')
  const { code, stdout, stderr } = await parley('uninstall')
  // A checkout without a service has nothing that --yes would remove.
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('There is nothing to remove')
  expect(stdout).toContain(`  completions for a shell: ${folder}/.bashrc (`)
  expect(stdout).not.toContain('.zshrc')
})

test('parley uninstall removes the unit where the service manager cannot be asked, and says what it did not do', async () => {
  const { parley, unit, systemd } = home()
  mkdirSync(dirname(unit), { recursive: true })
  writeFileSync(unit, '[Service]\n')
  writeFileSync(join(systemd.bin, 'systemctl'), '#!/bin/sh\necho "Failed to connect to bus" >&2\nexit 1\n')

  expect(await parley('uninstall', '--yes')).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/only removed, not asked to stop\. .*Failed to connect to bus/s),
  })
  expect(existsSync(unit)).toBe(false)
})

describe('parley uninstall --purge', () => {
  const fill = (folder: string, names: readonly string[]) => {
    for (const name of names) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      if (!existsSync(join(folder, name))) writeFileSync(join(folder, name), 'x')
    }
  }
  const there = (folder: string, names: readonly string[]) => names.filter((name) => existsSync(join(folder, name)))

  test('removes the files of Parley by their exact names, and nothing of others in the same folder', async () => {
    const { parley, folder, own } = home()
    const config = {
      store: { url: `sqlite:${folder}/parley.db` },
      backup: { every: 'day', to: join(folder, 'copies') },
    }
    writeFileSync(join(own, 'parley.yaml'), JSON.stringify(config))
    cpSync(OLD, join(folder, 'old'), { recursive: true })
    expect(await parley('import', join(folder, 'old'))).toMatchObject({ code: 0 })
    fill(folder, [...OTHERS, ...OWN])
    // A Node that keeps compiled code has made the folder already.
    rmSync(join(folder, '.cache'), { recursive: true, force: true })
    mkdirSync(join(folder, '.cache'))
    symlinkSync(join(folder, 'elsewhere'), join(folder, '.cache/parley'))
    const asked = await parley('uninstall', '--purge')
    expect(asked).toMatchObject({ code: 1, stdout: expect.stringContaining(`  backups: ${folder}/copies (`) })
    for (const name of ['media', 'last-backup', 'parley.db'])
      expect(asked.stdout).toMatch(new RegExp(`data: ${folder}/${name} \\([\\d.]+ `))
    expect(there(folder, OWN)).toEqual(OWN)
    const done = await parley('uninstall', '--purge', '--yes')

    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(there(folder, OTHERS)).toEqual(OTHERS)
    expect(there(folder, [...OWN, '.cache/parley'])).toEqual([])
    expect((await parley('uninstall', '--purge', '--yes')).stdout).toContain('There is nothing to remove.')
    for (const name of ['media/holiday.jpg', 'parley.dbnotes', 'elsewhere'])
      expect(done.stdout).toContain(`  other: ${folder}/${name}\n`)
  })

  test.each([
    ['nothing', () => undefined],
    ['a text', (file: string) => writeFileSync(file, 'shopping')],
    ['a database of another program', (file: string) => withDatabase(file, (one) => one.exec('CREATE TABLE a (b)'))],
  ])('removes nothing where %s stands in the place of the database, and says why', async (_what, make) => {
    const { parley, folder, own } = home()
    writeFileSync(join(own, 'parley.yaml'), JSON.stringify({ store: { url: `sqlite:${folder}/d` } }))
    make(join(folder, 'd'))
    const names = [...OWN, 'documents/letter.txt', 'downloads/film.mkv']
    fill(folder, names)
    const done = await parley('uninstall', '--purge', '--yes')

    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('So no data is removed.') })
    expect(there(folder, names)).toEqual(names)
  })
})
