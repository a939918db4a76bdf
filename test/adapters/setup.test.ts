import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { examine, findingsOf, type Platform, setupOf, troubles } from './examine.ts'
import { freePort } from './free-port.ts'
import { ManualClock } from './telegram/manual-clock.ts'

const all = Object.keys(catalogue) as readonly Platform[]
const SECRET = 'canary-of-the-token-0123456789abcdef'
const BLOCKS: Readonly<Record<Platform, object>> = {
  telegram: { token: `7000001:${SECRET}` },
  discord: { token: `MTA0MjMzNDU2Nzg5MDEyMzQ1.GabcdE.${SECRET}` },
  slack: { botToken: `xoxb-${SECRET}`, appToken: `xapp-1-A01-1-${SECRET}` },
}

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
})

interface Watched {
  readonly apiRoot: string
  readonly connected: Promise<void>
  /** Resolves once every connection that was opened is closed. */
  allClosed(): Promise<void>
}

/** A server that takes connections and never says anything. */
const mute = (): Promise<Watched> => watch(createServer((socket) => socket.resume()))

/** A server that answers everything with the page of some other program. */
const stranger = (): Promise<Watched> =>
  watch(
    createHttpServer((request, response) => {
      request.resume()
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not Found</h1>')
    }),
  )

async function watch(server: Server): Promise<Watched> {
  const closed: Promise<void>[] = []
  let connect = (): void => {}
  const connected = new Promise<void>((resolve) => {
    connect = resolve
  })
  server.on('connection', (socket) => {
    socket.on('error', () => {})
    closed.push(new Promise((resolve) => socket.once('close', () => resolve())))
    connect()
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  closers.push(() => new Promise((resolve) => server.close(() => resolve())))
  return { apiRoot: `http://127.0.0.1:${port}/`, connected, allClosed: () => Promise.all(closed).then(() => {}) }
}

describe.each(all)('%s', (platform) => {
  test('has steps, cautions and secrets that its account block takes, under the variables of its traits', async () => {
    const setup = await setupOf(platform)
    const { traits, configSchema } = catalogue[platform]
    const block = Object.fromEntries(setup.secrets.map(({ setting }) => [setting, Object.values(BLOCKS[platform])[0]]))

    expect(setup.title).toBe(traits.name)
    expect(Math.min(setup.steps.length, setup.cautions.length)).toBeGreaterThan(1)
    expect(Object.keys(configSchema.parse({ ...block, ...BLOCKS[platform] }))).toEqual(
      expect.arrayContaining(Object.keys(block)),
    )
    const named = setup.secrets.map(({ setting, variable }) => `${setting} ${variable}`).sort()
    expect(named).toEqual(traits.variables.map(({ setting, variable }) => `${setting} ${variable}`).sort())
  })

  test('a secret with a space, in quotes, as a reference or with its variable is a mistake that is not quoted', async () => {
    const { secrets } = await setupOf(platform)
    const [good] = Object.values(BLOCKS[platform]) as string[]
    const wrong = [
      '',
      ' ',
      `"${good}"`,
      `${good} x`,
      `\${env:${SECRET}}`,
      `TOKEN=${good}`,
      `<${SECRET}>`,
      `${good}\u00e9`,
    ]

    for (const { mistake } of secrets)
      for (const text of wrong) {
        expect([text, mistake(text)]).toEqual([text, expect.any(String)])
        expect(mistake(text)).not.toContain('canary')
      }
  })

  test('each of its own secrets is one, also with a line break behind it, and is none of another platform', async () => {
    for (const { setting, mistake } of (await setupOf(platform)).secrets) {
      const own = String(Reflect.get(BLOCKS[platform], setting))
      expect(mistake(own)).toBeUndefined()
      expect(mistake(`${own}\n`)).toBeUndefined()
      const others = all.filter((other) => other !== platform).flatMap((other) => Object.values(BLOCKS[other]))
      expect(others.map((text) => mistake(String(text)))).toEqual(
        others.map(() => expect.stringMatching(/^is (the|a) .*(bot|app)/)),
      )
    }
  })

  test('where nobody listens the server is what failed, with something to type', async () => {
    const apiRoot = `http://127.0.0.1:${await freePort()}/`
    const examination = await examine(platform, { ...BLOCKS[platform], apiRoot })

    expect(findingsOf(examination, 'server')).toEqual([
      {
        part: platform,
        check: 'server',
        state: 'failed',
        says: expect.stringMatching(/127\.0\.0\.1:\d+ refused the connection$/),
        remedy: expect.stringMatching(/^`curl -sS -m 10 http:\/\/127\.0\.0\.1:\d+`.* apiRoot/),
      },
    ])
    expect(examination).not.toHaveProperty('identity')
    expect(JSON.stringify(examination)).not.toContain('canary')
  })

  test('an apiRoot that is another server is named as such, and no connection to it is kept', async () => {
    const { apiRoot, allClosed } = await stranger()
    const examination = await examine(platform, { ...BLOCKS[platform], apiRoot })
    await allClosed()

    expect(findingsOf(examination, 'server')).toEqual([
      expect.objectContaining({
        state: 'failed',
        says: expect.stringMatching(/404 with HTML, which is not .*: check apiRoot$/),
      }),
    ])
  })

  test('a server that never answers ends within 30 s by its clock, as a finding, with no socket left', async () => {
    const { apiRoot, connected, allClosed } = await mute()
    const clock = new ManualClock()
    const examining = examine(platform, { ...BLOCKS[platform], apiRoot }, { clock, account: 'work' })
    await connected
    await clock.advance(30_000)
    const examination = await examining
    await allClosed()

    expect(findingsOf(examination, 'server')).toEqual([
      expect.objectContaining({
        part: `${platform}/work`,
        state: 'failed',
        says: expect.stringContaining('no answer within'),
      }),
    ])
    expect(clock.pending).toBe(0)
  })

  test('the signal ends it at once', async () => {
    const { apiRoot, connected, allClosed } = await mute()
    const abort = new AbortController()
    const examining = examine(platform, { ...BLOCKS[platform], apiRoot }, { signal: abort.signal })
    await connected
    abort.abort()

    expect(troubles(await examining)).toContain('server failed')
    await allClosed()
  })
})
