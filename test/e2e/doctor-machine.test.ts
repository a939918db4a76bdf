import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { ExamineRequest } from '../../src/channels/setup.ts'
import type { Address } from '../../src/core/address.ts'
import { examineNode } from '../../src/daemon/examine-host.ts'
import { examineAccount } from '../../src/daemon/examine-services.ts'
import { withDatabase } from '../store/temp-database.ts'
import { expectFailure, found, type Patient, patient, troubles } from './doctor-house.ts'
import { NOBODY, OTHER_USER_RUNS } from './other-user.ts'

/** The API alone: no platform is needed for what is about the machine. */
const CONFIG = { http: { port: 0 }, agents: [{ id: 'main', model: 'scripted/echo', tools: ['time'] }] }
const MAIN = new URL('../../dist/main.js', import.meta.url).pathname
const isRoot = process.getuid?.() === 0
const NEEDS_ROOT = 'only root can mount a disk and be another user'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function machine(config: object = {}, options: Parameters<typeof patient>[1] = {}): Promise<Patient> {
  return patient({ ...CONFIG, http: { port: await freePort() }, ...config }, options)
}

/** Names files of secrets in the configuration, one a server of models; one more stands in a comment alone. */
function nameSecrets({ file, folder }: Patient, secrets: readonly string[]): void {
  const comment = join(folder, 'in-a-comment')
  writeFileSync(comment, 'x')
  chmodSync(comment, 0o644)
  const servers = secrets.map((path, at) => [
    `s${at}`,
    { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1', apiKey: `\u0024{file:${path}}` },
  ])
  const config = { ...JSON.parse(readFileSync(file, 'utf8')), models: Object.fromEntries(servers) }
  writeFileSync(file, `${JSON.stringify(config)} # \u0024{file:${comment}}\n`)
}

/** Mounts a disk of this size over the state folder; whatever was in there is hidden. */
function mount(folder: string, options: string): void {
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `mode=700,${options}`, 'tmpfs', folder])
  expect(mounted.status).toBe(0)
  onTestFinished(() => void spawnSync('umount', ['-l', folder]))
}

it('without a configuration everything else is examined, and the exit code is 78', async () => {
  const one = await machine()
  rmSync(one.file)
  const { PARLEY_CONFIG: _file, ...nothing } = one.env
  const first = spawnSync(process.execPath, [MAIN, 'doctor', '--json', '--offline'], {
    env: nothing,
    encoding: 'utf8',
  })
  expect(first.status).toBe(78)
  expect(JSON.parse(first.stdout).findings.filter(({ state }: { state: string }) => state === 'failed')).toEqual([
    expect.objectContaining({ says: 'Nothing is configured yet.', remedy: 'Run: parley init' }),
  ])
  expect(JSON.parse(first.stdout).findings.map(({ part }: { part: string }) => part)).not.toContain('daemon')
  const report = await one.report()
  expect(report.code).toBe(78)
  expect(found(report, 'configuration', 'mistake')).toMatchObject({
    state: 'failed',
    remedy: expect.stringMatching(/\w/),
  })
  expect(found(report, 'program', 'version')).toMatchObject({ state: 'ok' })
  writeFileSync(one.file, 'channels: { telegram: { accounts: { default: { tokn: x } } } }\n')
  const typo = await one.report('telegram')
  expect(typo.code).toBe(78)
  expect(found(typo, 'configuration', 'mistake').says).toContain(`${one.file}:1: `)
})

it.skipIf(!isRoot)(`a full disk, and one without inodes (${NEEDS_ROOT})`, async () => {
  const one = await machine()
  mount(one.dataDir, 'size=8m')
  await expectFailure(await one.report('disk'), ['disk', 'space'], {
    says: /^\d MB are free/,
    remedy: /^Free some space there; .*du -xh/,
  })
  const other = await machine()
  mount(other.dataDir, 'size=900m,nr_inodes=50')
  await expectFailure(await other.report('disk'), ['disk', 'inodes'], { says: /^\d\d more files fit/, remedy: /df -i/ })
})

it('a damaged database: bytes of a page are others', async () => {
  const one = await machine()
  await one.once()
  const page = withDatabase(one.database, (database) => {
    const { rootpage } = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'inbox'").get() as {
      rootpage: number
    }
    return (rootpage - 1) * Number(database.pragma('page_size', { simple: true }))
  })
  const bytes = readFileSync(one.database)
  bytes.fill(0xa5, page, page + 200)
  writeFileSync(one.database, bytes)
  await expectFailure(await one.report('database'), ['database', 'integrity'], {
    says: /is damaged: .*(tree|page|malformed)/i,
    remedy: /parley restore/,
  })

  bytes.fill(0x5a, 0, 100)
  writeFileSync(one.database, bytes)
  const report = await one.report('database')
  expect(report.findings).toEqual([expect.objectContaining({ state: 'failed', remedy: expect.stringMatching(/\w/) })])
  expect(report.code).toBe(1)
})

it('a restore that was interrupted has failed, and uninstall and upgrade say so', async () => {
  const one = await machine()
  await one.once()
  renameSync(one.database, `${one.database}.restoring`)
  const report = await one.report('database')
  await expectFailure(report, ['database', 'check'], {
    says: /a restore was interrupted/,
    remedy: /^Run the same "parley restore <backup> --yes" once more/,
  })
  expect((await one.run('uninstall', '--purge')).out).toContain('a restore was interrupted')
  expect(await one.run('upgrade')).toMatchObject({
    code: 78,
    err: expect.stringContaining('a restore was interrupted'),
  })
})

it('a foreign database, and one of a newer Parley', async () => {
  const one = await machine()
  withDatabase(one.database, (database) => database.exec('CREATE TABLE recipes (title TEXT)'))
  chmodSync(one.database, 0o600)
  await expectFailure(await one.report('database'), ['database', 'foreign'], {
    says: /of another program/,
    remedy: /store\.url/,
  })

  const newer = await machine()
  await newer.once()
  withDatabase(newer.database, (database) => database.exec("INSERT INTO migrations VALUES (999, 'later', 0)"))
  await expectFailure(await newer.report('database'), ['database', 'schema'], {
    says: /newer Parley wrote it \(schema 999/,
    remedy: /Install/,
  })
})

it('the database of a daemon that runs is read beside it, and nothing of it changes', async () => {
  const one = await machine()
  await one.start()
  const report = await one.report('database', 'daemon')
  expect(found(report, 'database', 'integrity').says).toMatch(/^no damage in \d+ tables \(.*SQLite 3\./)
  expect(found(report, 'daemon', 'running')).toMatchObject({ state: 'ok', says: expect.stringMatching(/process \d+/) })
  const idle = await machine()
  await idle.once()
  const before = readFileSync(idle.database)
  expect((await idle.report('database')).code).toBe(0)
  expect(readFileSync(idle.database).equals(before)).toBe(true)
})

it('a port in use', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const report = await (await machine({ http: { port } })).report('port')
  await expectFailure(report, ['port', 'in-use'], {
    says: new RegExp(`port ${port} of http\\.port is in use`),
    remedy: /ss -ltnp/,
  })
})

const SHOWN = (lines: readonly string[]) =>
  `case "$*" in *--user*) echo LoadState=not-found;; *) cat <<'END'\n${lines.join('\n')}\nEND\n;; esac`
const UNIT = [
  ...['LoadState=loaded', 'UnitFileState=enabled', 'FragmentPath=/etc/systemd/system/parley.service', 'NRestarts=0'],
  `ExecStart={ path=${process.execPath} ; argv[]=${process.execPath} ${MAIN} start --config FILE ; ignore_errors=no ; pid=0 }`,
]

it('a unit that does not run, by recorded answers of systemctl', async () => {
  const one = await machine()
  const unit = (...lines: string[]) =>
    one.program('systemctl', SHOWN([...UNIT.map((line) => line.replace('FILE', one.file)), ...lines]))
  unit('ActiveState=failed', 'SubState=failed', 'Result=exit-code', 'ExecMainCode=1', 'ExecMainStatus=1')
  await expectFailure(await one.report('unit'), ['unit', 'active'], {
    says: /not running: failed \(failed\); 1: it failed/,
    remedy: /^sudo systemctl start parley; .*journalctl -u parley/,
  })
  unit('ActiveState=failed', 'SubState=failed', 'Result=exit-code', 'ExecMainCode=1', 'ExecMainStatus=78')
  await expectFailure(await one.report('unit'), ['unit', 'active'], {
    says: /configuration or the installation is wrong/,
    remedy: /parley config check/,
  })
  unit('ActiveState=failed', 'SubState=failed', 'Result=exit-code', 'ExecMainCode=1', 'ExecMainStatus=203')
  await expectFailure(await one.report('unit'), ['unit', 'active'], {
    says: /203: Node or the program is no longer where/,
    remedy: /^sudo parley service install --system$/,
  })

  unit(
    'ActiveState=active',
    'SubState=running',
    'NRestarts=7',
    'UnitFileState=disabled',
    `ActiveEnterTimestamp=${new Date().toUTCString().replace(/,/, '')}`,
  )
  const report = await one.report('unit')
  expect(report.code).toBe(0)
  expect(found(report, 'unit', 'restarts')).toMatchObject({ state: 'warning', remedy: 'journalctl -u parley -n 50' })
  expect(found(report, 'unit', 'enabled')).toMatchObject({ state: 'warning', remedy: 'sudo systemctl enable parley' })

  unit('ActiveState=active', 'SubState=running')
  expect((await one.report('unit')).findings).toEqual([expect.objectContaining({ check: 'active', state: 'ok' })])
  one.program(
    'systemctl',
    SHOWN([...UNIT.map((line) => line.replace('FILE', '/etc/parley/other.yaml')), 'ActiveState=active']),
  )
  expect(found(await one.report('unit'), 'unit', 'configuration').remedy).toBe(
    'parley doctor --config /etc/parley/other.yaml',
  )
})

it('an old Node, before the program loads and by its dates', async () => {
  const code = "Object.defineProperty(process.versions, 'node', { value: '18.20.8' })"
  const one = await machine({}, { node: ['--import', `data:text/javascript,${encodeURIComponent(code)}`] })
  expect(await one.doctor()).toMatchObject({ code: 78, err: expect.stringContaining('Parley needs Node 20.19') })
  const at = (day: string) => Date.parse(day)
  expect(examineNode('20.19.0', at('2026-04-01')).state).toBe('ok')
  expect(examineNode('20.20.2', at('2026-11-29'))).toMatchObject({
    state: 'warning',
    remedy: expect.stringContaining('Node 24'),
  })
  expect(examineNode('24.1.0', at('2026-11-29'))).toMatchObject({
    state: 'ok',
    says: expect.stringContaining('2028-04-30 (LTS)'),
  })
  expect(examineNode('18.20.8', at('2024-01-01')).state).toBe('failed')
  expect(examineNode('99.0.0', at('2026-11-29')).state).toBe('ok')
})

it.runIf(OTHER_USER_RUNS)(`a folder of another user, and files of another user in it (${NEEDS_ROOT})`, async () => {
  const one = await machine({}, { uid: NOBODY })
  for (const path of [one.folder, one.file]) chownSync(path, NOBODY, NOBODY)
  const report = await one.report('folder')
  await expectFailure(report, ['folder', 'place'], {
    says: /cannot be used by user 65534/,
    remedy: /^sudo chown -R .*, or examine it as its user: sudo -u <user> parley doctor$/,
  })

  const mixed = await machine()
  await mixed.once()
  chownSync(mixed.database, NOBODY, NOBODY)
  await expectFailure(await mixed.report('folder'), ['folder', 'owner'], {
    says: /parley\.db .*another user/,
    remedy: /^chown -R/,
  })
})

it('modes that are too open are named, and mended by --fix alone', async () => {
  const one = await machine()
  await one.once()
  const secret = join(one.folder, 'token')
  writeFileSync(secret, 'x', { mode: 0o644 })
  nameSecrets(one, [secret])
  chmodSync(one.dataDir, 0o777)
  chmodSync(one.database, 0o644)
  const report = await one.report('folder')
  await expectFailure(report, ['folder', 'place'], {
    says: /Others may write/,
    remedy: new RegExp(`chmod 700 ${one.dataDir}`),
  })
  expect(report.findings.filter(({ check }) => check === 'mode').map(({ remedy }) => remedy)).toEqual([
    `Run: chmod 600 ${one.database}`,
    `Run: chmod 600 ${secret}`,
  ])
  expect(report.findings.find(({ check }) => check === 'mode')?.fix).toEqual({
    ...{ kind: 'mode', path: one.database, mode: '600' },
  })
  expect(statSync(secret).mode & 0o777).toBe(0o644)

  const fixed = await one.report('folder', '--fix')
  expect([fixed.code, fixed.fixed.length]).toEqual([0, 3])
  expect(fixed.fixed[2]).toBe(`Others may not open ${secret} any more (chmod 600).`)
  expect([one.dataDir, one.database, secret].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600, 0o600])
  expect(troubles(await one.report('folder'))).toEqual([])
})

it.skipIf(!isRoot)(`--fix changes nothing that is not Parley's own or is shared (${NEEDS_ROOT})`, async () => {
  const one = await machine()
  await one.once()
  const outside = mkdtempSync(join(tmpdir(), 'parley-others-'))
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }))
  const [target, theirs] = [join(outside, 'target'), join(outside, 'theirs')]
  const [link, foreign, service] = [join(one.folder, 'link'), join(one.folder, 'foreign'), join(one.folder, 'service')]
  for (const file of [target, theirs, foreign]) {
    writeFileSync(file, 'x')
    chmodSync(file, 0o644)
  }
  chownSync(foreign, 65_534, 65_534)
  writeFileSync(service, 'x')
  chownSync(service, 0, 65_534)
  chmodSync(service, 0o640)
  symlinkSync(target, link)
  nameSecrets(one, [theirs, link, foreign, service])
  chmodSync(one.dataDir, 0o1777)
  const report = await one.report('folder', '--fix')

  expect([report.code, report.fixed]).toEqual([1, []])
  expect([target, theirs, foreign, service].map((file) => statSync(file).mode & 0o7777)).toEqual([
    ...[0o644, 0o644, 0o644, 0o640],
  ])
  expect(statSync(one.dataDir).mode & 0o7777).toBe(0o1777)
  expect(found(report, 'folder', 'place').remedy).toMatch(/^Choose another folder: store\.url/)
  expect(troubles(report).filter(({ says }) => says.includes(service))).toEqual([])
})

it('a folder of the configuration that others may write to is a failure, a warning of check and of start', async () => {
  const one = await machine()
  const folder = join(one.folder, 'settings')
  mkdirSync(folder)
  one.env.PARLEY_CONFIG = join(folder, 'parley.yaml')
  renameSync(one.file, one.env.PARLEY_CONFIG)
  chmodSync(folder, 0o777)
  await expectFailure(await one.report('folder', 'configuration'), ['folder', 'configuration'], {
    says: /Others may write to .* \(mode 0777\) and could change .*parley\.yaml/,
    remedy: new RegExp(`chmod go-w ${folder}$`),
  })
  expect((await one.run('config', 'check')).out).toMatch(/warning: .*Others may write to .* and could change/)
  const child = await one.start()
  child.kill('SIGTERM')
  let log = ''
  for await (const text of child.stderr ?? []) log += text
  expect(log).toContain('and could change')

  expect((await one.report('folder', '--fix')).fixed).toEqual([expect.stringContaining('chmod go-w')])
  expect(troubles(await one.report('folder'))).toEqual([])
})

it('a state folder that others may read is not called closed, and --fix closes it', async () => {
  const one = await machine()
  chmodSync(one.dataDir, 0o755)
  await expectFailure(await one.report('folder'), ['folder', 'place'], {
    ...{ state: 'warning', says: /others may see which files/, remedy: new RegExp(`chmod 700 ${one.dataDir}$`) },
  })
  expect((await one.report('folder', '--fix')).fixed).toHaveLength(1)
  expect(found(await one.report('folder'), 'folder', 'place').says).toContain('is closed to others')
})

it('a configuration that others may read is a fault where a secret stands in it', async () => {
  const one = await machine()
  chmodSync(one.file, 0o644)
  expect(troubles(await one.report('folder'))).toEqual([])
  const models = { home: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'sk-abcdef0123456789' } }
  writeFileSync(one.file, JSON.stringify({ ...CONFIG, models }))
  const report = await one.report('folder')
  await expectFailure(report, ['folder', 'mode'], {
    ...{ state: 'warning', says: /a secret in it: models\.home\.apiKey/, remedy: new RegExp(`chmod 600 ${one.file}$`) },
  })
  expect(JSON.stringify(report)).not.toContain('sk-abc')
  expect((await one.report('folder', '--fix')).fixed).toHaveLength(1)
})

it('a name that is no UTF-8 belongs to nobody else', async () => {
  const one = await machine()
  writeFileSync(Buffer.concat([Buffer.from(`${one.dataDir}/`), Buffer.from([0xff, 0xfe])]), 'x')
  expect(troubles(await one.report('folder'))).toEqual([])
})

it('an empty configuration leads to init, also without a store for status', async () => {
  const one = await machine()
  writeFileSync(one.file, '')
  expect(found(await one.report('configuration'), 'configuration', 'mistake')).toMatchObject({
    ...{ says: expect.stringContaining('the file is empty'), remedy: 'Run: parley init' },
  })
  const { code, out, err } = await one.run('status', '--json')
  expect([code, JSON.parse(out), err]).toEqual([
    ...[1, expect.objectContaining({ channels: [], sessions: 0 }), expect.stringContaining('No daemon is running')],
  ])
})

it.each([
  [['discord'], 'Discord is not set up; set up are: model.\n'],
  [['audio', 'disk'], 'Audio is not set up; set up are: model.\n'],
  [['tool'], 'No tool server is set up; set up are: model.\n'],
  [['model', '--offline'], 'model is asked over the network: leave --offline out.\n'],
])('doctor %j says that there is nothing of it, and is wrong usage', async (args, err) => {
  const models = { home: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' } }
  const one = await machine({ models, agents: [{ id: 'main', model: 'home/small' }] })
  expect(await one.doctor(...args)).toEqual({ code: 2, out: '', err })
})

it('a database that was restored and waits for its owner is named, without a daemon too', async () => {
  const one = await machine()
  await one.once()
  withDatabase(one.database, (database) => database.exec("INSERT INTO restorations VALUES (1, 1, 'held')"))
  await expectFailure(await one.report('database'), ['database', 'restored'], {
    ...{ state: 'warning', says: /held until you choose/, remedy: /^parley outbox list; .*resume/ },
  })
})

it('the report says once how parley is typed where the shell finds none', async () => {
  const one = await machine()
  const { out } = await one.doctor('daemon')
  expect(out).toContain(`parley start\n\n0 failed, 1 warning, 0 ok.\nHere "parley" is typed as: node ${MAIN}\n`)
  one.program('parley', '')
  expect((await one.doctor('daemon')).out).not.toContain('is typed as')
})

it('a socket that a killed daemon left is named, and gone after --fix', async () => {
  const one = await machine()
  const child = await one.start()
  const ended = once(child, 'close')
  child.kill('SIGKILL')
  await ended
  const socket = join(one.dataDir, 'parley.sock')
  expect(lstatSync(socket).isSocket()).toBe(true)
  expect(found(await one.report('daemon'), 'daemon', 'left-socket').state).toBe('ok')
  expect((await one.report('daemon', '--fix')).fixed).toHaveLength(1)
  expect(existsSync(socket)).toBe(false)
})

it('a process that holds the database and answers nobody is named by its number', async () => {
  const one = await machine()
  mkdirSync(one.dataDir, { recursive: true, mode: 0o700 })
  const lock = `${one.database}.lock`
  const driver = Number(process.versions.napi) < 10 ? 'better-sqlite3-12' : 'better-sqlite3'
  const code = `const d = new (require('${driver}'))(${JSON.stringify(lock)}); d.exec('BEGIN EXCLUSIVE'); console.log('held'); setInterval(() => {}, 1e6)`
  const holder = spawn(process.execPath, ['-e', code], { cwd: join(import.meta.dirname, '../..') })
  onTestFinished(() => void holder.kill('SIGKILL'))
  await once(holder.stdout, 'data')
  const report = await one.report('daemon')
  await expectFailure(report, ['daemon', 'lock'], {
    says: new RegExp(`process ${holder.pid} holds`),
    remedy: new RegExp(`^ps -fp ${holder.pid}`),
  })
})

it('no backup, an old one and a failed one', async () => {
  const one = await machine()
  const backup = (last: object) => writeFileSync(join(one.dataDir, 'last-backup'), JSON.stringify(last))
  backup({ at: Date.now() - 20 * 86_400_000, path: '/' })
  await expectFailure(await one.report('backup'), ['backup', 'age'], {
    state: 'warning',
    says: /20 d old/,
    remedy: /^parley backup$/,
  })
  backup({ failedAt: Date.now(), reason: 'the disk is full' })
  await expectFailure(await one.report('backup'), ['backup', 'outcome'], {
    says: /the disk is full/,
    remedy: /^parley backup$/,
  })
  rmSync(join(one.dataDir, 'last-backup'))
  expect(found(await one.report('backup'), 'backup', 'age').says).toBe('there is nothing to back up yet')
  writeFileSync(one.database, '', { mode: 0o600 })
  await expectFailure(await one.report('backup'), ['backup', 'age'], {
    state: 'warning',
    says: /no backup was ever made/,
    remedy: /^parley backup$/,
  })
})

it('a platform is given every known place of the account, and cuts the list itself', async () => {
  let given = 0
  const setup = {
    async examine(_account: unknown, { places }: ExamineRequest) {
      given = places.length
      return { findings: [] }
    },
  }
  const plugins = { telegram: { loadSetup: async () => setup } as never }
  const address = (chat: number) => ({ channel: 'telegram', account: 'default', chatType: 'group', chat: `${chat}` })
  const places = Array.from({ length: 30 }, (_, chat) => ({ address: address(chat) as Address }))
  const look = { config: {} as never, plugins, status: undefined, signal: AbortSignal.timeout(1_000) }
  await examineAccount({ channel: 'telegram', account: 'default', settings: {} }, look, places)
  expect(given).toBe(30)
})
