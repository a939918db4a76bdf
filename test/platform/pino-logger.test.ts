import { expect, test } from 'vitest'
import { createPinoLogger, type LoggerOptions } from '../../src/platform/pino-logger.ts'

const AT = Date.UTC(2026, 10, 21, 10, 12, 3)

function log(changes: Partial<LoggerOptions> = {}) {
  const written: string[] = []
  const out = { write: (text: string) => written.push(text), isTTY: false }
  const logger = createPinoLogger({ level: 'info', pretty: false, secrets: [], out, now: () => AT, ...changes })
  return {
    logger,
    text: () => written.join(''),
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
  }
}

test('a line is one JSON object: time, level, sentence and fields', () => {
  const { logger, lines, text } = log()

  logger.info('A message was accepted', { traceId: 'tr_1', parts: 2 })

  expect(lines()).toEqual([
    { level: 'info', time: '2026-11-21T10:12:03.000Z', traceId: 'tr_1', parts: 2, msg: 'A message was accepted' },
  ])
  expect(text().endsWith('}\n')).toBe(true)
})

test('a child adds its fields to every line', () => {
  const { logger, lines } = log()

  logger.child({ subsystem: 'store' }).child({ account: 'default' }).warn('The disk is slow', { ms: 900 })

  expect(lines()[0]).toMatchObject({ level: 'warn', subsystem: 'store', account: 'default', ms: 900 })
})

test('lines under the level are not written, nor is what they would have said worked out', () => {
  const { logger, text } = log({ level: 'warn' })

  logger.info('Nobody reads this', {
    get costly(): string {
      throw new Error('was worked out')
    },
  })

  expect(text()).toBe('')
})

test('an error is written with code, stack, causes and what it gathers', () => {
  const { logger, lines } = log()
  const root = Object.assign(new Error('connection reset'), { code: 'ECONNRESET' })
  const error = new Error('send failed', { cause: new AggregateError([root], 'both hosts failed') })

  logger.error('A send failed', { err: error, also: { deep: [root] } })

  expect(lines()[0]).toMatchObject({
    err: {
      name: 'Error',
      message: 'send failed',
      stack: expect.stringContaining('pino-logger.test'),
      cause: { message: 'both hosts failed', errors: [{ message: 'connection reset', code: 'ECONNRESET' }] },
    },
    also: { deep: [{ message: 'connection reset' }] },
  })
})

test('fields that JSON cannot hold are written all the same', () => {
  const { logger, lines } = log()
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const locked = Object.defineProperty({}, 'x', {
    enumerable: true,
    get() {
      throw new Error('no')
    },
  })

  logger.info('Odd things', { big: 5n, circle, locked, map: new Map([['k', 1]]), run: () => 1, when: new Date(0) })

  expect(lines()[0]).toMatchObject({
    big: '5',
    locked: '[unreadable]',
    map: { k: 1 },
    run: '[function]',
    when: '1970-01-01T00:00:00.000Z',
  })
})

test('a field cannot pose as the time, level or sentence of its line', () => {
  const { logger, lines } = log()

  logger.info('The sentence', { msg: 'another', level: 'error', time: 'never' })

  expect(lines()[0]).toMatchObject({ msg: 'The sentence', level: 'info', msg_: 'another', level_: 'error' })
})

test('controls, line ends and direction marks are escaped, so that one line stays one line', () => {
  const { logger, text, lines } = log()
  const hostile = 'a\nb\u001b[31mred\u009b2J\u2028next\u202etxt\u061c'

  logger.info('A name came in', { name: hostile })

  expect(text().trimEnd()).not.toMatch(/[\p{Cc}\u2028\u202e\u061c]/u)
  expect(lines()[0]?.name).toBe(hostile)
})

test('F-J01: no secret is written, wherever in a line it is', () => {
  const secrets = ['5:AAcanary"quoted\\', 'sk-ant-canary-2', 'canary three ü', 'canary\nfour']
  const { logger, text } = log({ secrets, level: 'debug' })

  for (const secret of secrets) {
    const cause = new Error(`GET https://host/bot${secret}/getMe and ${encodeURIComponent(secret)} failed`)
    const error = new Error(`cannot send: ${secret}`, { cause })
    logger.child({ bound: secret }).debug('A request', { url: `https://host/${encodeURI(secret)}`, [secret]: 1 })
    logger.error('It failed', { err: error, body: JSON.stringify({ token: secret }), deep: [{ error }] })
    logger.info(`a sentence with ${secret}`)
  }

  expect(text()).not.toMatch(/canary/)
  expect(text()).toContain('[secret]')
  for (const line of text().trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
})

test('F-J01: a secret that is a number withholds the line rather than break it', () => {
  const { logger, lines } = log({ secrets: ['424242'] })

  logger.warn('A number', { pin: 424_242 })

  expect(lines()).toEqual([
    { level: 'warn', time: '2026-11-21T10:12:03.000Z', msg: expect.stringContaining('withheld') },
  ])
})

test('pretty lines name time, level, subsystem, sentence and fields', () => {
  const { logger, text } = log({ pretty: true })

  logger.child({ subsystem: 'store' }).info('The store is open', { path: '/var/lib/a.db', note: 'two words', rows: 3 })

  expect(text()).toBe('10:12:03 info  store     The store is open path=/var/lib/a.db note="two words" rows=3\n')
})

test('pretty lines show the stack of an error and of its causes', () => {
  const { logger, text } = log({ pretty: true })

  logger.error('It failed', { err: new Error('outer', { cause: new Error('inner') }) })

  expect(text()).toMatch(/^10:12:03 error\s+It failed err=outer\n\s+Error: outer\n\s+at /)
  expect(text()).toMatch(/caused by Error: inner\n\s+at /)
})

test('F-J01: pretty lines hide secrets and escape controls; colours are for terminals', () => {
  const hostile = { name: 'x\u001b[2J\u0007', token: '5:canary', err: new Error('bad\u001b[2J 5:canary') }
  const plain = log({ pretty: true, secrets: ['5:canary'] })
  const terminal: string[] = []
  const coloured = log({ pretty: true, out: { write: (text) => terminal.push(text), isTTY: true } })

  plain.logger.info('A name came in', hostile)
  coloured.logger.info('A name came in')

  expect(plain.text().replaceAll('\n', '')).not.toMatch(/\p{Cc}|canary/u)
  expect(terminal.join('')).toContain('\u001b[36minfo ')
})

test('an error with words of megabytes is written in a line of a few thousand characters', () => {
  const { logger, lines } = log()
  const words = '<p>no milk</p>'.repeat(100_000)
  logger.warn('It failed', { err: new Error(words, { cause: new Error(words) }), why: words })
  const [line] = lines()
  expect(line).toMatchObject({
    err: { message: expect.stringMatching(/^<p>no milk.*…$/), stack: expect.stringContaining('pino-logger.test') },
  })
  expect(JSON.stringify(line).length).toBeLessThan(8_000)
})
