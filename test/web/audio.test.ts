import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DEFAULT_AUDIO_LIMITS } from '../../src/core/audio.ts'
import { systemClock } from '../../src/core/clock.ts'
import { toError } from '../../src/core/errors.ts'
import { startOpenAiServer } from '../../src/rehearsal/openai/server.ts'
import { recordingOf, saidInRecording } from '../../src/rehearsal/recordings.ts'
import { type AudioEndpoint, createAudio } from '../../src/web/audio.ts'
import { createDoor, type Door, type DoorDeps } from '../../src/web/door.ts'

const KEY = 'sk-canary-4711'
const NOTE = { bytes: recordingOf('buy milk'), mime: 'audio/ogg; codecs=opus' }
const never = new AbortController().signal

function endpoint(baseUrl: string, settings: Partial<AudioEndpoint> = {}, door: Partial<DoorDeps> = {}) {
  return createAudio(
    {
      ...{ baseUrl, apiKey: KEY, limits: DEFAULT_AUDIO_LIMITS },
      ...{ transcribe: { model: 'whisper-1' }, speak: { model: 'tts-1', voice: 'alloy', format: 'opus' } },
      ...settings,
    },
    createDoor({ clock: systemClock, most: 100_000, ...door }),
  )
}

async function serve(handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.closeAllConnections())
  onTestFinished(() => new Promise((closed) => server.close(() => closed())))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

const failureOf = (work: Promise<unknown> | undefined): Promise<Error> =>
  (work ?? Promise.resolve()).then(
    () => new Error('it did not fail'),
    (error: unknown) => toError(error),
  )

describe('an audio endpoint', () => {
  it('hears a recording and speaks a text, as the strict rehearsal of it takes them', async () => {
    const server = await startOpenAiServer({ apiKey: KEY })
    onTestFinished(server.close)
    const audio = endpoint(server.baseUrl, { transcribe: { model: 'whisper-1', language: 'en' } })
    expect(await audio.transcribe?.(NOTE, never)).toEqual({ said: 'buy milk' })
    const spoken = await audio.speak?.('Done, *really*.', never)
    expect(spoken?.mime).toBe('audio/ogg')
    expect(saidInRecording(spoken?.bytes ?? NOTE.bytes)).toBe('Done, *really*.')
    expect(server.ledger.entries).toMatchObject([
      { kind: 'heard', request: { model: 'whisper-1', language: 'en', fileName: 'recording.ogg' } },
      { kind: 'spoke', request: { model: 'tts-1', voice: 'alloy', response_format: 'opus' } },
    ])
  })

  it('without one of its parts does not have it', () => {
    const audio = createAudio(
      { baseUrl: 'http://127.0.0.1:1', limits: DEFAULT_AUDIO_LIMITS },
      createDoor({ clock: systemClock }),
    )
    expect(audio).toEqual({})
  })

  it.each([
    [
      'says the key in its refusal',
      500,
      `{"error":{"message":"bad key ${KEY}"}}`,
      'answered 500 (Internal Server Error)',
    ],
    ['refuses the key', 401, `Incorrect API key provided: ${KEY}`, 'answered 401 (Unauthorized)'],
    ['answers a page', 200, '<html>hello</html>', 'something that is no transcript'],
    ['answers another type', 200, '{"text":{"a":1}}', 'something that is no transcript'],
    ['answers no words', 200, '{"text":"  \\n "}', 'heard no words'],
    ['has its words behind 60,000 spaces', 200, JSON.stringify({ text: `${' '.repeat(60_000)}hi` }), 'heard no words'],
    ['answers nothing', 200, '', 'something that is no transcript'],
    ['answers too much', 200, `{"text":"${'x'.repeat(200_000)}"}`, 'more than is taken'],
  ])('that %s fails in words, without its words or the key', async (_, status, body, words) => {
    const url = await serve((request, response) =>
      request.resume().on('end', () => response.writeHead(status).end(body)),
    )
    const error = await failureOf(endpoint(url).transcribe?.(NOTE, never))
    const code = status === 200 ? 'unreadable' : 'unavailable'
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) })
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain(KEY)
  })

  it.each([
    [404, 'application/json', 'check audio.transcribe.model, and audio.baseUrl, which for most servers ends in /v1'],
    [200, 'text/html', 'not the audio API of OpenAI: check audio.baseUrl, which for most servers ends in /v1'],
    [401, 'application/json', 'check audio.apiKey'],
    [400, 'application/json', 'check audio.transcribe'],
  ])('answered %i with %s has its remedy in the cause, for the log', async (status, type, remedy) => {
    const url = await serve((request, response) =>
      request.resume().on('end', () => response.writeHead(status, { 'content-type': type }).end(`{"key":"${KEY}"}`)),
    )
    const { cause } = await failureOf(endpoint(new URL(url).origin).transcribe?.(NOTE, never))
    expect(String(cause)).toContain(`POST /audio/transcriptions at ${new URL(url).host}`)
    expect(String(cause)).toMatch(new RegExp(`${remedy}$`))
    expect(String(cause)).not.toContain(KEY)
  })

  it('that speaks a page has the setting in the cause, without a hint where that ends in /v1', async () => {
    const url = await serve((request, response) =>
      request.resume().on('end', () => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')),
    )
    const { cause, message } = await failureOf(endpoint(url).speak?.('hello', never))
    expect(message).toBe('The audio endpoint answered with no sound.')
    expect(String(cause)).toMatch(/HTML, which is not the audio API of OpenAI: check audio\.baseUrl$/)
  })

  it.each([
    ['seconds', '{"type":"duration","seconds":90}', { input: 1_500, output: 0 }],
    ['tokens', '{"type":"tokens","input_tokens":14,"output_tokens":45}', { input: 14, output: 45 }],
    ['what it has written alone', '{"type":"tokens","output_tokens":45}', undefined],
    ['nothing', '{}', undefined],
    ['nonsense', '{"seconds":-5,"input_tokens":"many"}', undefined],
    ['no object', '7', undefined],
    ['endless seconds', '{"seconds":1e999}', undefined],
    ['more seconds than there are', '{"seconds":1e300}', undefined],
  ])('C33: that counts %s is taken at its word', async (_, counted, usage) => {
    const body = `{"text":"buy milk","usage":${counted}}`
    const url = await serve((request, response) => request.resume().on('end', () => response.end(body)))
    expect(await endpoint(url).transcribe?.(NOTE, never)).toEqual({ said: 'buy milk', ...(usage && { usage }) })
  })

  it('that hangs is given up after its time', async () => {
    const url = await serve((request) => void request.resume())
    const error = await failureOf(endpoint(url, {}, { withinMs: 200 }).speak?.('hello', never))
    expect(error).toMatchObject({
      code: 'unreadable',
      message: expect.stringMatching(/^The audio endpoint did not answer within/),
    })
  })

  it('that sends byte after byte is given up after its time', async () => {
    const url = await serve((request, response) => {
      request.resume()
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    })
    const error = await failureOf(endpoint(url, {}, { withinMs: 300 }).speak?.('hello', never))
    expect(error).toMatchObject({ code: 'unreadable' })
  })

  it('that speaks without a sound fails', async () => {
    const url = await serve((request, response) => request.resume().on('end', () => response.end()))
    expect(await failureOf(endpoint(url).speak?.('hello', never))).toMatchObject({ code: 'unreadable' })
  })

  it('C33: that cannot be reached has done nothing; one that breaks off may have', async () => {
    const gone = await failureOf(endpoint('http://127.0.0.1:1/v1').transcribe?.(NOTE, never))
    expect(gone).toMatchObject({ code: 'unavailable', message: 'The audio endpoint cannot be reached.' })
    const url = await serve((request) => request.resume().on('end', () => request.socket.destroy()))
    const broken = await failureOf(endpoint(url).transcribe?.(NOTE, never))
    expect(broken).toMatchObject({
      code: 'unreadable',
      message: expect.stringContaining('to the audio endpoint broke'),
    })
    // The operator finds its place in the log.
    expect(String(toError(broken.cause))).toContain(new URL(url).host)
  })

  it('C34: is exempt from the check of addresses itself, and no redirect of it is followed, nor gets the key', async () => {
    const asked: unknown[] = []
    const other = await serve((request, response) => {
      asked.push(request.headers.authorization)
      response.end('{"text":"stolen"}')
    })
    for (const location of [other, '/v1/elsewhere', 'https://example.org/', 'http://127.0.0.1:1/']) {
      const url = await serve((request, response) => {
        if (request.url?.includes('elsewhere')) asked.push('followed')
        request.resume().on('end', () => response.writeHead(307, { location }).end())
      })
      const failed = await failureOf(endpoint(url).transcribe?.(NOTE, never))
      // People read it, and the place of the endpoint is none of theirs.
      const message = 'The audio endpoint redirects elsewhere, which is not followed.'
      expect(failed).toMatchObject({ code: 'unavailable', message })
    }
    expect(asked).toEqual([])
  })

  it('is not asked for what is larger than is sent, or longer than is spoken', async () => {
    const audio = endpoint('http://127.0.0.1:1', { limits: { seconds: 1, bytes: 10, characters: 3 } })
    expect(await failureOf(audio.transcribe?.(NOTE, never))).toMatchObject({ code: 'too_long' })
    expect(await failureOf(audio.speak?.('four', never))).toMatchObject({ code: 'too_long' })
  })

  it('is let go of once nobody wants it any more', async () => {
    const url = await serve((request) => void request.resume())
    expect(await failureOf(endpoint(url).speak?.('hello', AbortSignal.timeout(100)))).toMatchObject({ code: 'aborted' })
  })
})

it('R9: a transcript is cut, and no redirect of the endpoint is followed, wherever it leads', async () => {
  const asked: unknown[] = []
  const bytes = Buffer.from(JSON.stringify({ text: 'a'.repeat(20_001) }))
  const headers = { 'content-type': 'application/json' }
  const ask: Door['ask'] = async (url, request) => {
    asked.push([url, request.follow])
    return { kind: 'answer', status: 200, headers, bytes, cut: false } as never
  }
  const at = { baseUrl: 'http://127.0.0.1:1/v1//', limits: DEFAULT_AUDIO_LIMITS }
  const heard = await createAudio({ ...at, transcribe: { model: 'm' } }, { ask }).transcribe?.(NOTE, never)
  expect(heard?.said).toHaveLength(20_000)
  expect(asked).toEqual([['http://127.0.0.1:1/v1/audio/transcriptions', false]])
})
