import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { BotProcess } from './bot-process.ts'
import { built, environment, parleyWith } from './contenders.ts'
import { EchoLoad } from './echo-load.ts'
import type { BenchOptions } from './options.ts'
import { progress, type Rig, withBot, withFolder } from './rig.ts'
import { atMost, percentile, type Row } from './row.ts'

const READERS = 1_000
const AT_ONCE = 100
const EVENTS = 50
const WARM_UP = 500
const SAMPLES = 200
const PAUSE_MS = 3

/** What readers of a live stream cost, and how long after its row was written an event has reached one. */
export async function benchStreams({ contenders }: BenchOptions): Promise<Row[]> {
  if (!contenders.some(({ name }) => name === 'Parley')) return []
  const bare = await withFolder(bareGrowth)
  progress(`streams, a bare server: ${bare.toFixed(1)} MB`)
  const port = await freePort()
  const { growth, times } = await withFolder((folder) =>
    withBot(parleyWith({}, { http: { port } }), folder, (rig) => measure(rig, port)),
  )
  progress(`streams, Parley: ${growth.toFixed(1)} MB`)
  const memory = { Parley: growth, 'bare HTTP': bare }
  return [
    { what: '1,000 readers of 50 events each', unit: 'MB', goal: atMost(50), values: memory },
    { what: 'row to reader, p50', unit: 'ms', goal: atMost(20), values: { Parley: percentile(times, 0.5) } },
    { what: 'row to reader, p99', unit: 'ms', values: { Parley: percentile(times, 0.99) } },
  ]
}

async function measure(
  { server, bot, folder, watch }: Rig,
  port: number,
): Promise<{ growth: number; times: number[] }> {
  const load = new EchoLoad(server, 1)
  await watch(load.run(WARM_UP))
  const env = environment({ apiRoot: server.apiRoot, token: server.token, folder })
  const create = ['token', 'create', '--owner', '--json', '--config', join(folder, 'parley.yaml')]
  const { stdout } = await promisify(execFile)(process.execPath, [built('../main.js'), ...create], { env, cwd: folder })
  const { token } = JSON.parse(stdout) as { token: string }
  const headers = { authorization: `Bearer ${token}` }
  const list = await fetch(`http://127.0.0.1:${port}/v1/sessions`, { headers })
  const { sessions } = (await list.json()) as { sessions: { id: string }[] }
  const path = `/v1/sessions/${encodeURIComponent(sessions[0]?.id ?? '')}/events`

  const first = await openReader({ port, path, token })
  const times: number[] = []
  first.onEvent = (at) => times.push(Date.now() - at)
  while (times.length < SAMPLES) {
    await pause(PAUSE_MS)
    await watch(load.run(1))
  }
  const before = bot.rss()
  const readers = await openReaders({ port, path, token })
  while (readers.some(({ events }) => events < EVENTS)) await watch(load.run(1))
  const growth = bot.rss() - before
  for (const { socket } of [first, ...readers]) socket.destroy()
  return { growth, times }
}

async function bareGrowth(folder: string): Promise<number> {
  const port = await freePort()
  const bot = new BotProcess({ args: [built('bots/bare-streams.js')], env: { PORT: String(port) } }, folder)
  try {
    const address = `http://127.0.0.1:${port}`
    const post = () =>
      fetch(address, { method: 'POST', body: JSON.stringify({ at: Date.now(), text: 'x'.repeat(200) }) })
    while (!(await post().catch(() => undefined))) await pause(20)
    for (let no = 0; no < WARM_UP; no++) await post()
    const before = bot.rss()
    const readers = await openReaders({ port, path: '/', token: '' })
    while (readers.some(({ events }) => events < EVENTS)) await post()
    const growth = bot.rss() - before
    for (const { socket } of readers) socket.destroy()
    return growth
  } finally {
    await bot.stop()
  }
}

interface Reader {
  readonly socket: Socket
  events: number
  onEvent?: (at: number) => void
}

interface Place {
  readonly port: number
  readonly path: string
  readonly token: string
}

/** Some at a time: strangers who crowd a server are turned away. */
async function openReaders(place: Place): Promise<Reader[]> {
  const readers: Reader[] = []
  while (readers.length < READERS)
    readers.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => openReader(place)))))
  return readers
}

/** A reader that has got the beginning of its stream. */
async function openReader({ port, path, token }: Place): Promise<Reader> {
  const socket = connect({ host: '127.0.0.1', port })
  await once(socket, 'connect')
  const reader: Reader = { socket, events: 0 }
  const head = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`
  socket.write(`GET ${path} HTTP/1.1\r\n${head}`)
  await new Promise<void>((resolve, reject) => {
    socket.setEncoding('latin1').on('data', (piece: string) => {
      if (piece.startsWith('HTTP/1.1 4')) reject(new Error(piece))
      if (piece.includes('event: start')) resolve()
      for (const [, at] of piece.matchAll(/"at":(\d+)/g)) {
        reader.events++
        reader.onEvent?.(Number(at))
      }
    })
    socket.on('error', reject)
  })
  return reader
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
