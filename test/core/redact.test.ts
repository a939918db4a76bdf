import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../src/core/redact.ts'

const MASK = '[secret]'

/** What becomes of a text inside a finished line. */
function shown(secrets: readonly string[], text: string): string {
  return (JSON.parse(createRedactor(secrets)(JSON.stringify({ text }))) as { text: string }).text
}

describe('createRedactor', () => {
  test('hides every occurrence of every secret', () => {
    expect(shown(['5:token', 'sk-key'], '5:token and sk-key and 5:token')).toBe(`${MASK} and ${MASK} and ${MASK}`)
  })

  test.each([
    ['in the path of a URL', (secret: string) => `https://host/bot${encodeURIComponent(secret)}/getMe`],
    [
      'in the path of a URL, in lower case',
      (secret: string) => encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
    ],
    ['in a whole URL that was encoded', (secret: string) => encodeURI(`https://host/${secret}`)],
    ['in a form', (secret: string) => encodeURIComponent(secret).replaceAll('%20', '+')],
    ['in JSON', (secret: string) => JSON.stringify({ token: secret })],
    ['in an Authorization header', (secret: string) => `Basic ${Buffer.from(`bot:${secret}`).toString('base64')}`],
    ['in base64 for URLs', (secret: string) => Buffer.from(`${secret}:x`).toString('base64url')],
  ])('F-J01: hides a secret with quotes, spaces and marks %s', (_, write) => {
    const secret = '5:a"b\\c d+e/f=??>>'
    const text = shown([secret], write(secret))

    expect(text).toContain(MASK)
    expect(text.length).toBeLessThan(write(secret).length)
    expect(text).not.toMatch(/5(:|%3a)a/i)
  })

  test('prefers the longer of two secrets that begin alike', () => {
    expect(shown(['abcd', 'abcdef'], 'abcdef')).toBe(MASK)
  })

  test('takes the signs of a pattern literally', () => {
    expect(shown(['a.c*[x]-1'], 'abcc a.c*[x]-1')).toBe(`abcc ${MASK}`)
  })

  test('leaves lines alone where there is nothing to hide, or nothing long enough to be a secret', () => {
    expect(shown([], 'as it is')).toBe('as it is')
    expect(shown(['a', ''], 'a cat')).toBe('a cat')
  })

  test('takes a secret with half an emoji in it', () => {
    expect(shown(['half\ud83d'], 'half\ud83d!')).toBe(`${MASK}!`)
  })

  test('withholds a line that would no longer be JSON, but for its time and level', () => {
    const line = createRedactor(['4242'])('{"level":"warn","time":"now","pin":4242,"msg":"A pin"}')

    expect(JSON.parse(line)).toEqual({ level: 'warn', time: 'now', msg: expect.stringContaining('withheld') })
  })

  test('F-J01: no secret of four characters or more survives in a line, and the line stays JSON', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4, unit: 'binary' }), fc.string(), (secret, around) => {
        fc.pre(!MASK.includes(secret) && !/[[\]]/.test(secret))
        const line = createRedactor([secret])(JSON.stringify(`${around} ${secret} ${around}`))
        JSON.parse(line)
        return !line.includes(JSON.stringify(secret).slice(1, -1))
      }),
    )
  })
})
