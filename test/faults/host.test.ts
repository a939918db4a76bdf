import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { EXIT } from '../../src/core/errors.ts'
import { startTelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { type OpenProgram, openFolder, openProgram } from '../fakes/open-folder.ts'
import { PRODUCT, START_WITHIN_MS } from './daemon-child.ts'
import { CASE } from './rounds.ts'

const ROOT = 0
const [ALICE, EVE] = [65531, 65532]
const TOKEN = '7000001:rehearsal'
/** Beyond the greatest number that the system gives to a process. */
const NO_PROCESS = 99_999_999

interface Machine {
  /** What the configuration names as the folder of the database. */
  readonly data: string
  /** The folder for temporary files, which all users share. */
  readonly shared: string
  /** Runs a command as a user and resolves with its exit code and what it printed. */
  run(uid: number, ...argv: string[]): Promise<{ code: number | null; text: string }>
  /** Starts the daemon as a user and resolves once it polls; ended by the test. */
  start(uid: number): Promise<ChildProcess>
}

/** A folder of Alice's, a configuration that all may read, and the built program. */
async function machine({ node, main }: OpenProgram): Promise<Machine> {
  const folder = openFolder()
  const telegram = await startTelegramServer({ bots: [{ token: TOKEN, canReadAllGroupMessages: true }] })
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  chownSync(data, ALICE, ALICE)
  const shared = join(folder, 'tmp')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  const config = join(folder, 'parley.yaml')
  const accounts = { default: { token: TOKEN, apiRoot: telegram.apiRoot } }
  const settings = { agents: [{ id: 'main', model: 'scripted/echo' }], channels: { telegram: { accounts } } }
  writeFileSync(config, JSON.stringify({ ...settings, store: { url: `sqlite:${data}/parley.db` } }))
  const children: ChildProcess[] = []
  onTestFinished(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    await telegram.close()
  })
  const launch = (uid: number, ...argv: string[]): ChildProcess => {
    const env = { PATH: process.env.PATH ?? '', PARLEY_CONFIG: config, TMPDIR: shared }
    const child = spawn(node, [main, ...argv], { cwd: folder, env, uid, gid: uid })
    children.push(child)
    return child
  }
  const textOf = (child: ChildProcess): { text: string } => {
    const printed = { text: '' }
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        printed.text += chunk
      })
    return printed
  }
  return {
    data,
    shared,
    async run(uid, ...argv) {
      const child = launch(uid, ...argv)
      const printed = textOf(child)
      const [code] = await once(child, 'close')
      return { code, text: printed.text }
    },
    async start(uid) {
      const listening = telegram.ledger.listening({ after: telegram.ledger.mark(), timeoutMs: START_WITHIN_MS })
      const child = launch(uid, 'start')
      const printed = textOf(child)
      const ended = once(child, 'close').then(([code]) => {
        throw new Error(`The daemon ended with ${code}: ${printed.text}`)
      })
      ended.catch(() => {})
      await Promise.race([listening, ended])
      return child
    },
  }
}

async function stop(daemon: ChildProcess): Promise<unknown> {
  daemon.kill('SIGTERM')
  return (await once(daemon, 'exit'))[0]
}

/** A server at the place of the daemon's socket that answers every request with this. */
async function impostor(socketPath: string, answer: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('data', () => socket.end(answer))
  })
  server.listen(socketPath)
  await once(server, 'listening')
  chmodSync(socketPath, 0o666)
  onTestFinished(() => void server.close())
  return server
}

const FORGED = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{"status":"ok"}'
const owners = (folder: string): number[] => readdirSync(folder).map((name) => statSync(join(folder, name)).uid)

describe.runIf(process.geteuid?.() === ROOT && existsSync(PRODUCT))('on a machine of several users', CASE, () => {
  let program: OpenProgram
  beforeAll(() => {
    // Files of root that the other users read.
    const umask = process.umask(0o022)
    program = openProgram()
    return () => {
      program.remove()
      process.umask(umask)
    }
  })

  test('F-F09: a data folder that others may write to is refused with 78 and the remedy, by daemon and client', async () => {
    const { data, run } = await machine(program)
    chmodSync(data, 0o777)
    for (const uid of [ALICE, ROOT])
      expect(await run(uid, 'start')).toEqual({
        code: EXIT.config,
        text: expect.stringMatching(new RegExp(`^Others may write to .*chmod 700 ${data}\n$`)),
      })
    expect(readdirSync(data)).toEqual([])
    writeFileSync(join(data, 'parley.db'), '')
    expect(await run(ALICE, 'sessions', 'list')).toMatchObject({ code: EXIT.config })
    await impostor(join(data, 'parley.sock'), FORGED)
    expect(await run(ALICE, 'status')).toMatchObject({ code: EXIT.config, text: expect.stringContaining('chmod 700') })
    expect(await run(ROOT, 'status')).toMatchObject({ code: EXIT.config, text: expect.stringContaining('chmod 700') })
  })

  test('F-F09: a data folder or a database of somebody else is refused with 78', async () => {
    const { data, run } = await machine(program)
    chmodSync(data, 0o755)
    const others = `belongs to user ${ALICE}, and this runs as user ${EVE}`
    expect(await run(EVE, 'start')).toMatchObject({ code: EXIT.config, text: expect.stringContaining(others) })
    writeFileSync(join(data, 'parley.db'), '', { mode: 0o600 })
    chownSync(join(data, 'parley.db'), EVE, EVE)
    for (const uid of [ALICE, ROOT])
      expect(await run(uid, 'start')).toMatchObject({
        code: EXIT.config,
        text: expect.stringContaining(`parley.db belongs to user ${EVE}`),
      })
  })

  test('F-F09: a data folder that its owner may not write to is refused with 78 and its path, whatever is in it', async () => {
    const { data, run } = await machine(program)
    writeFileSync(join(data, 'parley.db'), '', { mode: 0o600 })
    chownSync(join(data, 'parley.db'), ALICE, ALICE)
    chmodSync(data, 0o500)
    expect(await run(ALICE, 'start')).toMatchObject({
      code: EXIT.config,
      text: expect.stringContaining(`${data} cannot be used by user ${ALICE} (EACCES)`),
    })
  })

  test('a folder on the way that others may write to is refused with 78', async () => {
    const { data, run } = await machine(program)
    chmodSync(join(data, '..'), 0o777)
    expect(await run(ALICE, 'start')).toMatchObject({ code: EXIT.config, text: expect.stringContaining('chmod go-w') })
  })

  test('a socket of somebody else, or what is none, is refused with 78 by daemon and client', async () => {
    const { data, run } = await machine(program)
    const socket = join(data, 'parley.sock')
    const server = await impostor(socket, FORGED)
    chownSync(socket, EVE, EVE)
    for (const [uid, command] of [
      [ALICE, 'start'],
      [ALICE, 'status'],
      [ROOT, 'status'],
    ] as const)
      expect(await run(uid, command)).toMatchObject({
        code: EXIT.config,
        text: expect.stringContaining(`parley.sock belongs to user ${EVE}`),
      })
    const closed = once(server, 'close')
    server.close()
    await closed
    rmSync(socket, { force: true })
    symlinkSync('elsewhere.sock', socket)
    for (const command of ['start', 'status'])
      expect(await run(ALICE, command)).toMatchObject({
        code: EXIT.config,
        text: expect.stringContaining('is in the way and no socket'),
      })
  })

  test('root asks the daemon of another user and reads its store; what it makes there is that user’s', async () => {
    const { data, run, start } = await machine(program)
    const daemon = await start(ALICE)
    expect(await run(ROOT, 'status')).toMatchObject({ code: EXIT.ok, text: expect.stringContaining('up') })
    expect(await run(ALICE, 'status')).toMatchObject({ code: EXIT.ok })
    expect(await run(EVE, 'status')).toMatchObject({ code: EXIT.failed, text: expect.stringContaining('another user') })
    expect(await stop(daemon)).toBe(EXIT.ok)
    rmSync(join(data, 'parley.db'))
    rmSync(join(data, 'parley.db.lock'))
    writeFileSync(join(data, 'parley.db'), '', { mode: 0o600 })
    chownSync(join(data, 'parley.db'), ALICE, ALICE)
    expect(await run(ROOT, 'sessions', 'list')).toMatchObject({ code: EXIT.ok })
    expect(owners(data)).toEqual([ALICE, ALICE, ALICE])
    expect(await stop(await start(ALICE))).toBe(EXIT.ok)
  })

  test('a daemon of root in the folder of another user leaves nothing there that this user cannot open', async () => {
    const { data, run, start } = await machine(program)
    const daemon = await start(ROOT)
    expect(readdirSync(data)).toEqual(expect.arrayContaining(['parley.db', 'parley.db-wal', 'parley.sock']))
    expect(new Set(owners(data))).toEqual(new Set([ALICE]))
    expect(await run(ALICE, 'status')).toMatchObject({ code: EXIT.ok })
    expect(await stop(daemon)).toBe(EXIT.ok)
    expect(await stop(await start(ALICE))).toBe(EXIT.ok)
  })

  test('what others put among temporary files under the name of a trial touches no file of ours, and stops no start', async () => {
    const { data, shared, run, start } = await machine(program)
    const letters = join(data, '..', 'letters')
    mkdirSync(letters)
    writeFileSync(join(letters, 'letter'), 'Dear Bob')
    for (const path of [letters, join(letters, 'letter')]) chownSync(path, ALICE, ALICE)
    const planted = join(shared, `parley-trial-${NO_PROCESS}-planted`)
    symlinkSync(letters, planted)
    lchownSync(planted, EVE, EVE)
    const closed = join(shared, `parley-trial-${NO_PROCESS}-closed`)
    mkdirSync(join(closed, 'inner'), { recursive: true })
    const ago = new Date(Date.now() - 3_600_000)
    for (const path of [join(closed, 'inner'), closed]) utimesSync(path, ago, ago)
    chmodSync(closed, 0o500)
    chownSync(closed, ALICE, ALICE)
    expect(await stop(await start(ALICE))).toBe(EXIT.ok)
    expect(readdirSync(letters)).toEqual(['letter'])
    const old = join(data, '..', 'old')
    mkdirSync(old)
    writeFileSync(join(old, 'one.jsonl'), JSON.stringify({ role: 'user', content: 'hello' }))
    expect(await run(ALICE, 'import', old, '--dry-run')).toMatchObject({ code: EXIT.ok })
    expect(readdirSync(letters)).toEqual(['letter'])
  })
})
