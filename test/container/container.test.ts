import { execFileSync, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { startTelegramServer, type TelegramServer } from '../../src/rehearsal/telegram/server.ts'

// `npm run test:container`: it needs root and Debian's buildah, and reaches the registry of npm, but none of images. The
// base image is made of this host's own packages; whoever runs the image is played by unshare and chroot, with what
// compose.yaml asks of a container engine: no root, no capability, a root that nobody can write to, one volume.

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const COMPOSE = readFileSync(join(ROOT, 'systemd/compose.yaml'), 'utf8')
const USER = 1000
const ADA = 1001
const MINUTES = 60_000
const GRACE_MS = 30_000

let folder: string
let image: Image

/** What the image says of itself. */
interface Image {
  readonly root: string
  readonly env: readonly string[]
  readonly user: string
  readonly command: readonly string[]
  readonly health: readonly string[]
  readonly signal: string
}

beforeAll(async () => {
  expect(process.getuid?.(), 'it needs root, to make file systems').toBe(0)
  expect(spawnSync('buildah', ['--version']).status, 'it needs buildah: apt-get install -y buildah').toBe(0)
  folder = mkdtempSync('/var/tmp/parley-container-')
  await makeBase()
  const context = ['--build-arg', 'BASE=localhost/parley-test-base', '-f', join(ROOT, 'systemd/Containerfile'), ROOT]
  buildah('build', '--isolation', 'chroot', '--format', 'docker', '--tag', 'parley-test', ...context)
  image = inspect()
}, 20 * MINUTES)

afterAll(() => {
  buildah('rm', '--all')
  rmSync(folder, { recursive: true, force: true })
}, 10 * MINUTES)

/** Everything that buildah keeps lies in the folder of this run. */
function buildah(...args: readonly string[]): string {
  const places = ['--storage-driver', 'vfs', '--root', join(folder, 'images'), '--runroot', join(folder, 'run')]
  const done = spawnSync('buildah', [...places, ...args], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (done.status !== 0) throw new Error(`buildah ${args[0]}: ${done.stdout.slice(-2000)}${done.stderr.slice(-4000)}`)
  return done.stdout.trim()
}

async function makeBase(): Promise<void> {
  const context = join(folder, 'base')
  mkdirSync(context)
  const node = `node-${process.platform}-${process.arch}`
  execFileSync('npm', ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `${node}@24`], {
    stdio: 'pipe',
  })
  const npm = dirname(dirname(execFileSync('readlink', ['-f', pathOf('npm')], { encoding: 'utf8' }).trim()))
  const script = fileURLToPath(new URL('base-image.sh', import.meta.url))
  const made = spawn(script, [join(folder, 'node_modules', node, 'bin'), npm], { stdio: ['ignore', 'pipe', 'ignore'] })
  await pipeline(made.stdout, createWriteStream(join(context, 'root.tar')))
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
  const certificates = '/etc/ssl/certs/ca-certificates.crt'
  const variables = `npm_config_registry=${registry} npm_config_cafile=${certificates} NODE_EXTRA_CA_CERTS=${certificates}`
  const base = ['FROM scratch', 'ADD root.tar /', `ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin ${variables}`]
  writeFileSync(join(folder, 'Base'), base.join('\n'))
  buildah(
    'build',
    '--isolation',
    'chroot',
    '--format',
    'docker',
    '--tag',
    'parley-test-base',
    '-f',
    join(folder, 'Base'),
    context,
  )
}

function pathOf(tool: string): string {
  return execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim()
}

function inspect(): Image {
  const container = buildah('from', 'parley-test')
  const { Docker } = JSON.parse(buildah('inspect', container))
  const { Env, User, Cmd, Healthcheck, StopSignal } = Docker.config
  const [, ...health] = Healthcheck.Test
  return { root: buildah('mount', container), env: Env, user: User, command: Cmd, health, signal: StopSignal }
}

/** A state, a configuration and a secret of the host, and what runs the image with them. */
async function household(): Promise<{ telegram: TelegramServer; place: string }> {
  const telegram = await startTelegramServer()
  onTestFinished(() => telegram.close())
  const place = mkdtempSync(join(folder, 'house-'))
  for (const name of ['data', 'secrets', 'etc']) mkdirSync(join(place, name), { mode: 0o700 })
  writeFileSync(join(place, 'secrets/telegram-token'), `${telegram.token}\n`, { mode: 0o600 })
  const account = `{ token: "\${credential:telegram-token}", apiRoot: "${telegram.apiRoot}" }`
  const agents = 'agents: [{ id: main, model: scripted/echo }]'
  const file = `${agents}\npeople: { ada: { role: owner, ids: ["telegram:${ADA}"] } }\nchannels: { telegram: { accounts: { default: ${account} } } }\n`
  writeFileSync(join(place, 'etc/parley.yaml'), file, { mode: 0o600 })
  for (const name of ['data', 'secrets', 'secrets/telegram-token', 'etc', 'etc/parley.yaml'])
    chownSync(join(place, name), USER, USER)
  return { telegram, place }
}

/** Enters the image as a container engine does: process 1 of its own, root read-only, neither root nor capabilities. */
function enter(place: string, command: readonly string[]): readonly string[] {
  const { root, env, user } = image
  const bind = (from: string, to: string) => `mount --bind '${from}' '${root}${to}'`
  const script = [
    'set -e',
    'mount --make-rprivate /',
    `mkdir -p '${root}/run/secrets'`,
    `mount --bind '${root}' '${root}'`,
    `mount -o remount,bind,ro '${root}'`,
    `mount -t proc proc '${root}/proc'`,
    `mount --rbind /dev '${root}/dev'`,
    `mount -t tmpfs tmpfs '${root}/tmp'`,
    bind(join(place, 'data'), '/data'),
    bind(join(place, 'etc'), '/etc/parley'),
    bind(join(place, 'secrets'), '/run/secrets'),
    `exec chroot --userspec=${user} '${root}' /usr/bin/env -i -C /data "$@"`,
  ].join('\n')
  const bare = ['setpriv', '--no-new-privs', '--inh-caps=-all', '--ambient-caps=-all', '--']
  return ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, 'sh', ...env, ...bare, ...command]
}

/** A daemon that runs in the image. */
async function start(place: string) {
  const child = spawn('unshare', enter(place, image.command), { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  const ended = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  await expect.poll(() => said, { timeout: MINUTES }).toContain('Stop with Ctrl-C.')
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
  const inside = (command: readonly string[]): SpawnSyncReturns<string> => {
    const within = [
      '-t',
      children,
      '-m',
      '-p',
      'chroot',
      `--userspec=${image.user}`,
      image.root,
      'env',
      '-i',
      ...image.env,
    ]
    return spawnSync('nsenter', [...within, ...command], { encoding: 'utf8' })
  }
  return {
    pid: Number(children),
    inside,
    /** Sends the signal of the image; resolves with the exit code and the time that the end took. */
    async stop() {
      const before = performance.now()
      process.kill(Number(children), image.signal as NodeJS.Signals)
      const [code] = await ended
      return { code, tookMs: performance.now() - before }
    },
  }
}

describe('the image of systemd/Containerfile', () => {
  test(
    'answers a chat as a user without capabilities on a root that it cannot write to, and says that it is well',
    async () => {
      const { telegram, place } = await household()
      const daemon = await start(place)
      telegram.world.addUser({ id: ADA, firstName: 'Ada' })
      telegram.world.say({ from: ADA, text: 'Hello from outside' })
      const answers = () => telegram.world.messages(ADA, { by: 'bot' }).map(({ message }) => message.text)
      await expect.poll(answers, { timeout: MINUTES }).toContainEqual(expect.stringContaining('Hello from outside'))

      const status = readFileSync(`/proc/${daemon.pid}/status`, 'utf8')
      expect(status).toMatch(/^Uid:\s+1000\s+1000/m)
      expect(status).toMatch(/^CapEff:\s+0+$/m)
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
      expect(daemon.inside(['sh', '-c', 'echo x > /opt/parley/x'])).toMatchObject({
        stderr: expect.stringMatching(/Read-only|denied/),
      })
      expect(daemon.inside(image.health)).toMatchObject({ status: 0 })
      expect(daemon.inside(['parley', 'status'])).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('telegram'),
      })
      const { code, tookMs } = await daemon.stop()
      expect(code).toBe(0)
      expect(tookMs).toBeLessThan(GRACE_MS)
    },
    5 * MINUTES,
  )

  test(
    'keeps its state in the volume over a new container, and nothing else is left',
    async () => {
      const { place } = await household()
      const first = await start(place)
      const made = first.inside(['parley', 'token', 'create', '--owner', '--json'])
      expect(made.status).toBe(0)
      expect((await first.stop()).code).toBe(0)
      const second = await start(place)

      expect(second.inside(['parley', 'token', 'list', '--json']).stdout).toContain(JSON.parse(made.stdout).id)
      expect(statSync(join(place, 'data/parley.db'))).toMatchObject({ uid: USER, mode: 0o100600 })
      expect((await second.stop()).code).toBe(0)
    },
    5 * MINUTES,
  )

  test(
    'is unhealthy where no daemon runs',
    async () => {
      const { place } = await household()
      const asked = spawnSync('unshare', enter(place, image.health), { encoding: 'utf8' })
      expect(asked.status).toBe(1)
    },
    MINUTES,
  )
})

describe('compose.yaml', () => {
  test('asks for what this test plays, and gives a stop more time than the daemon takes', () => {
    const { services, secrets, volumes } = parse(COMPOSE)
    expect(services.parley).toMatchObject({
      ...{ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges'], stop_grace_period: '30s' },
      volumes: ['state:/data', './parley.yaml:/etc/parley/parley.yaml:ro'],
      build: { context: '..', dockerfile: 'systemd/Containerfile' },
    })
    expect([Object.keys(secrets), Object.keys(volumes)]).toEqual([services.parley.secrets, ['ollama', 'state']])
  })

  test(
    'has no fault for a linter',
    () => {
      const linted = spawnSync('npx', ['--yes', 'dclint@3.1.0', 'systemd'], { cwd: ROOT, encoding: 'utf8' })
      expect(`${linted.stdout}${linted.stderr}`).not.toMatch(/\berror\b/)
      expect(linted.status).toBe(0)
    },
    2 * MINUTES,
  )
})
