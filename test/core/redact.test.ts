import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactingStream, createRedactor, createTextRedactor } from '../../src/core/redact.ts'

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

describe('createRedactingStream', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

  /** Returns what comes out of the stream for these pieces, each piece as its reader gets it. */
  async function passed(secrets: readonly string[], pieces: readonly Uint8Array[]): Promise<string> {
    return await new Response(ReadableStream.from(pieces).pipeThrough(createRedactingStream(secrets))).text()
  }

  test('gives what the redaction of the whole text gives, wherever the text is cut', async () => {
    // Few letters, so that secrets overlap, begin one another and begin anew in their middle.
    const letter = fc.constantFrom('a', 'b', 'é')
    const secret = fc.string({ unit: letter, minLength: 8, maxLength: 12 })
    const text = fc.oneof(fc.string({ unit: letter, maxLength: 30 }), fc.constant(undefined), fc.constant('"🙂\\'))
    await fc.assert(
      fc.asyncProperty(
        fc.array(secret, { maxLength: 3 }),
        fc.array(text, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
        async (secrets, parts, cuts) => {
          const whole = parts.map((part, index) => part ?? secrets[index % Math.max(1, secrets.length)] ?? '').join('')
          const all = bytes(whole)
          const pieces: Uint8Array[] = []
          for (let [from, cut] = [0, 0]; from < all.length; cut++) {
            const size = cuts[cut % cuts.length] ?? 1
            pieces.push(all.slice(from, from + size))
            from += size
          }
          expect(await passed(secrets, pieces)).toBe(createTextRedactor(secrets)(whole))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('passes the end of an event at once, and holds back the beginning of a secret', async () => {
    const stream = createRedactingStream(['canary-of-the-token'])
    const [writer, reader] = [stream.writable.getWriter(), stream.readable.getReader()]
    const next = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value)
    void writer.write(bytes('data: {"id":1}\n\n'))
    expect(await next()).toBe('data: {"id":1}\n\n')
    void writer.write(bytes('it is canary-of'))
    expect(await next()).toBe('it is ')
    void writer.write(bytes('-the-token.'))
    expect(await next()).toBe('[secret].')
    await reader.cancel()
  })

  test('ends in time on a long text that begins a secret again and again', async () => {
    const secret = `${'a'.repeat(2_000)}b`
    const whole = 'a'.repeat(100_000)
    expect(await passed([secret], [bytes(whole), bytes('b')])).toBe(`${whole.slice(2_000)}[secret]`)
  })
})
