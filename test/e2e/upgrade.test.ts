import { execFile, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { installInto, packAs, withNewerSchema } from '../fakes/packed-programs.ts'
import { fakeSystemd } from '../fakes/systemd.ts'
import { withDatabase } from '../store/temp-database.ts'
import { NOBODY, OTHER_USER_RUNS } from './other-user.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const NEWER = '9.0.0'

const packages = mkdtempSync(join(tmpdir(), 'parley-packed-'))
afterAll(() => rmSync(packages, { recursive: true, force: true }))
const files = new Map<string, string>()

/** Returns a packed program, which is made once for all tests. */
function packed(version: string, change?: Parameters<typeof packAs>[2]): string {
  const key = `${version} ${change?.name}`
  const file = files.get(key) ?? packAs(version, mkdtempSync(join(packages, 'one-')), change)
  files.set(key, file)
  return file
}

/** A user's home with the packed program, installed by npm, a conversation in its store, and a service manager. */
async function home() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-upgrade-'))
  const systemd = fakeSystemd(folder)
  onTestFinished(() => {
    systemd.end()
    rmSync(folder, { recursive: true, force: true })
  })
  const prefix = join(folder, 'prefix')
  const program = join(prefix, 'lib/node_modules/parley')
  installInto(prefix, packed(VERSION))
  mkdirSync(join(folder, '.config/parley'), { recursive: true })
  writeFileSync(join(folder, '.config/parley/parley.yaml'), 'http: { port: 0 }\n', { mode: 0o600 })
  cpSync(join(ROOT, 'test/fixtures/imports/molf'), join(folder, 'old'), { recursive: true })
  const node = dirname(process.execPath)
  const env = { HOME: folder, PATH: `${systemd.bin}:${join(prefix, 'bin')}:${node}:${process.env.PATH}` }
  const shell = async (command: string, as: { readonly uid?: number } = {}) => {
    const done = promisify(execFile)('sh', ['-c', command], { env, cwd: folder, ...as })
    const { stdout, stderr, code } = await done.then((said) => ({ ...said, code: 0 })).catch((error) => error)
    return { stdout: String(stdout), stderr: String(stderr), code: Number(code) }
  }
  const parley = (...args: readonly string[]) => shell(['parley', ...args].join(' '))
  expect(await parley('import', 'old')).toMatchObject({ code: 0 })
  const state = join(folder, '.local/state/parley')
  return { folder, program, state, systemd, parley, shell, prefix, env }
}

const sessions = async ({ parley }: Awaited<ReturnType<typeof home>>) =>
  JSON.parse((await parley('sessions', 'list', '--all', '--json')).stdout).total

describe('parley upgrade', { timeout: 300_000 }, () => {
  test('without a file it says what is installed, what runs, what the next start changes, and how to upgrade', async () => {
    const { parley, program } = await home()
    const { code, stdout } = await parley('upgrade')

    expect(code).toBe(0)
    expect(stdout).toContain(`Installed  ${VERSION} in ${program}, Node ${process.versions.node}\n`)
    expect(stdout).toContain('Running    no daemon\n')
    expect(stdout).toMatch(/Database {3}schema \d+, which this program uses: the next start changes nothing\n/)
    expect(stdout).toContain('parley upgrade <file.tgz>')
  })

  test('with a newer file it changes nothing without --yes, then installs it, restarts the service, and loses nothing', async () => {
    const house = await home()
    const { parley, folder, state, systemd } = house
    expect(await parley('service', 'install', '--user')).toMatchObject({ code: 0 })
    const file = packed(NEWER, withNewerSchema)
    const asked = await parley('upgrade', file, '--no-backup')
    expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing was changed') })
    expect(asked.stdout).toContain(`Running    ${VERSION}\n`)
    expect(asked.stdout).toMatch(/its first start copies the database, and brings it to schema \d+/)
    expect(asked.stdout).toContain(`npm install --global --prefix ${folder}/prefix`)
    expect(await parley('--version')).toMatchObject({ stdout: `${VERSION}\n` })

    const done = await parley('upgrade', file, '--yes')
    expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('The service runs: active (running)') })
    expect(systemd.calls()).toContain('systemctl --user restart parley.service')
    expect(await parley('--version')).toMatchObject({ stdout: `${NEWER}\n` })
    expect((await parley('upgrade')).stdout).toContain(`Running    ${NEWER}\n`)
    expect(readdirSync(state).filter((name) => name.includes('before-v'))).toHaveLength(1)
    const [, copy = ''] = /A backup lies in (.+)/.exec(done.stderr) ?? []
    expect(existsSync(join(copy, 'manifest.json'))).toBe(true)
    expect(await sessions(house)).toBe(1)
  })

  test.runIf(OTHER_USER_RUNS)(
    'where root has the program and a user the daemon, both are told what to type',
    async () => {
      const { folder, prefix, shell } = await home()
      const file = packed(NEWER)
      execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, join(folder, '.config'), join(folder, '.local'), folder])
      execFileSync('chown', ['-R', '0:0', prefix])
      for (const path of [packages, dirname(file)]) chmodSync(path, 0o755)
      const steps = [
        ...['parley backup', `sudo npm install --global --prefix ${prefix} .*${file}`],
        'systemctl --user restart parley\n',
      ]
      const told = (why: string) => ({
        ...{ code: 2, stdout: '', stderr: expect.stringMatching(new RegExp([why, ...steps].join('.*\\n  '), 's')) },
      })
      expect(await shell(`parley upgrade ${file} --dry-run`, { uid: NOBODY })).toEqual(told('is not yours to write to'))
      mkdirSync(join(prefix, 'root'))
      const asRoot = `HOME=${prefix}/root SUDO_USER=ada parley upgrade ${file} --yes`
      expect(await shell(asRoot)).toEqual(told('the daemon is one of ada'))
    },
  )

  test('a version that does not start ends with 1 and names the way back, which leads back', async () => {
    const house = await home()
    const { parley, shell, folder, state } = house
    await parley('service', 'install', '--user')
    const victim = join(folder, 'victim')
    writeFileSync(victim, 'of root')
    symlinkSync(victim, join(state, `parley-${VERSION}.tgz`))
    const broken = (text: string, name: string) =>
      name === 'main.js' ? text.replace(/^(#!.*\n)/, '$1if (process.argv[2] === "start") process.exit(78);\n') : text
    const done = await parley('upgrade', packed(NEWER, broken), '--no-backup', '--yes')
    expect(done).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('78: the configuration or the installation'),
    })

    const [, way = ''] = done.stderr.split('The way back:\n')
    expect(readFileSync(victim, 'utf8')).toBe('of root')
    expect(way).toContain(join(folder, `.local/share/parley/parley-${VERSION}.tgz`))
    for (const command of way.trim().split('\n')) expect(await shell(command)).toMatchObject({ code: 0 })
    expect(await parley('service', 'status')).toMatchObject({ code: 0 })
    expect(await parley('--version')).toMatchObject({ stdout: `${VERSION}\n` })
    expect(await sessions(house)).toBe(1)
  })

  test('an older program says that the database is of a newer one, and does not touch it', async () => {
    const house = await home()
    const { parley, folder, prefix, state } = house
    await parley('service', 'install', '--user')
    await parley('upgrade', packed(NEWER, withNewerSchema), '--no-backup', '--yes')
    await parley('service', 'uninstall')
    const older = join(folder, `.local/share/parley/parley-${VERSION}.tgz`)
    expect(await parley('upgrade', older)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('older than the installed'),
    })

    execFileSync('npm', ['install', '--global', '--prefix', prefix, '--ignore-scripts', '--offline', older], {
      cwd: folder,
      stdio: 'pipe',
    })
    expect((await parley('upgrade')).stdout).toMatch(/is of a newer program; this one knows \d+, and does not start/)
    // Copies have another journal mode, which a program that writes changes at once.
    withDatabase(join(state, 'parley.db'), (database) => database.pragma('journal_mode = DELETE'))
    const before = readFileSync(join(state, 'parley.db'))
    expect(await parley('start')).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('install the newer program again'),
    })
    expect(readFileSync(join(state, 'parley.db')).equals(before)).toBe(true)
  })

  test.each([
    ['a text', (folder: string) => writeFileSync(join(folder, 'x.tgz'), 'no archive')],
    [
      'another package',
      (folder: string) => execFileSync('tar', ['-czf', join(folder, 'x.tgz'), '-C', ROOT, 'README.md']),
    ],
    ['nothing', () => undefined],
  ])('%s in place of a packed file is refused before anything is changed', async (_what, make) => {
    const { parley, folder } = await home()
    make(folder)
    expect(await parley('upgrade', 'x.tgz', '--yes')).toMatchObject({ code: expect.toBeOneOf([2, 78]), stdout: '' })
    expect(await parley('--version')).toMatchObject({ stdout: `${VERSION}\n` })
  })

  test('a packed file is refused by what it says of itself, and nothing of it is run or left', async () => {
    const { parley, folder } = await home()
    const file = join(folder, 'new.tgz')
    const pack = (about: object, names: readonly string[] = ['package']) => {
      rmSync(file, { force: true })
      for (const name of names) {
        mkdirSync(join(folder, name, 'dist'), { recursive: true })
        writeFileSync(join(folder, name, 'dist/main.js'), `require('fs').writeFileSync('${folder}/ran', 'x')`)
        writeFileSync(
          join(folder, name, 'package.json'),
          JSON.stringify({ name: 'parley', version: NEWER, engines: { node: '>=20.19' }, ...about }),
        )
      }
      execFileSync('tar', [
        '-czf',
        file,
        '-C',
        folder,
        ...names.flatMap((name) => `${name}/package.json ${name}/dist/main.js`.split(' ')),
      ])
    }
    const refused = async (code: number, words: RegExp) => {
      const said = await parley('upgrade', file, '--dry-run')
      expect(said).toEqual({ code, stdout: '', stderr: expect.stringMatching(words) })
      expect(said.stderr).not.toContain('\u001b')
    }
    const notOurs = /is no packed Parley/
    for (const about of [
      { name: 'parley-' },
      { version: `${NEWER}\n\u001b[31mx` },
      { version: `v${NEWER}` },
      { engines: { node: '*' } },
      { engines: undefined },
    ]) {
      pack(about)
      await refused(2, notOurs)
    }
    pack({ engines: { node: '^98.1 || >=99' } })
    await refused(78, /Parley 9\.0\.0 needs Node \^98\.1 \|\| >=99; this is Node/)
    pack({ parley: { schema: 1 } })
    await refused(2, /knows schema 1, and the database has \d+/)
    pack({}, ['package', 'other'])
    await refused(2, notOurs)
    pack({})
    chmodSync(file, 0o666)
    await refused(1, /Others may write to .*new\.tgz .*Run: chmod go-w/)
    chmodSync(file, 0o644)
    const temporary = readdirSync(tmpdir())
    expect(await parley('upgrade', file, '--dry-run')).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(tmpdir()).filter((name) => /^parley-upgrade-/.test(name) && !temporary.includes(name))).toEqual(
      [],
    )
    expect(existsSync(join(folder, 'ran'))).toBe(false)
  })
})

describe('parley uninstall', { timeout: 300_000 }, () => {
  test('names everything with its size and removes nothing without --yes', async () => {
    const { parley, program, state } = await home()
    const { code, stdout, stderr } = await parley('uninstall')

    expect([code, stderr]).toEqual([1, expect.stringContaining('Nothing was removed')])
    expect(stdout).toContain(`  program: ${program} (`)
    expect(stdout).toContain(`  data: ${state} (`)
    expect(stdout).toMatch(/At the platforms stay/)
    expect([existsSync(program), existsSync(join(state, 'parley.db'))]).toEqual([true, true])
  })

  test('with --yes stops the service and removes it and the program, and leaves data and configuration', async () => {
    const { parley, program, state, folder, systemd, shell } = await home()
    await parley('service', 'install', '--user')
    expect(await parley('uninstall', '--yes')).toMatchObject({ code: 0, stderr: '' })

    expect(systemd.calls()).toContain('systemctl --user disable --now parley.service')
    expect([existsSync(program), existsSync(join(state, 'parley.db'))]).toEqual([false, true])
    expect(readdirSync(join(folder, '.config/systemd/user'))).toEqual([])
    expect(existsSync(join(folder, '.config/parley/parley.yaml'))).toBe(true)
    expect(await shell('parley --version')).toMatchObject({ code: 127 })
    expect(existsSync(join(state, 'parley.sock'))).toBe(false)
  })

  test('with --purge removes the data, but neither backups nor files of others beside it', async () => {
    const { parley, state } = await home()
    mkdirSync(join(state, 'backups/parley-1'), { recursive: true })
    writeFileSync(join(state, 'notes.txt'), 'mine')
    expect(await parley('uninstall', '--purge', '--yes')).toMatchObject({ code: 0 })

    expect(readdirSync(state).toSorted()).toEqual(['backups', 'notes.txt'])
  })

  test('with --purge removes nothing under a daemon that lives and answers nobody', async () => {
    const { parley, state, env, program } = await home()
    const daemon = spawn(process.execPath, [join(program, 'dist/main.js'), 'start'], { env, stdio: 'pipe' })
    onTestFinished(() => void daemon.kill('SIGKILL'))
    for await (const text of daemon.stdout) if (String(text).includes('Stop with Ctrl-C')) break
    daemon.kill('SIGSTOP')
    const before = readdirSync(state).toSorted()
    expect(await parley('uninstall', '--purge', '--yes')).toMatchObject({
      code: 75,
      stderr: expect.stringContaining(`Process ${daemon.pid} uses this store: ${state}\nStop it first: `),
    })
    expect([readdirSync(state).toSorted(), existsSync(program)]).toEqual([before, true])
  })
})
