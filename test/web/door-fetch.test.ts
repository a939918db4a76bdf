import { expect, it } from 'vitest'
import type { DoorAnswer, DoorRequest } from '../../src/web/door.ts'
import { doorFetch } from '../../src/web/door-fetch.ts'

const url = new URL('http://127.0.0.1:8800/mcp')
const ANSWER = { kind: 'answer', url, status: 200, headers: {}, bytes: Buffer.from('{}'), cut: false } as const

function asking(answer: DoorAnswer, isConfigured?: (url: URL) => boolean) {
  const asked: DoorRequest[] = []
  const ask = async (_: string, request: DoorRequest): Promise<DoorAnswer> => {
    asked.push(request)
    return answer
  }
  return { asked, fetch: doorFetch(ask, isConfigured) }
}

it('C34: an answer that is cut, or leads elsewhere, is none', async () => {
  await expect(asking({ ...ANSWER, cut: true }).fetch(url)).rejects.toThrow('The answer of the server is too long.')
  const elsewhere = asking({ kind: 'redirect', status: 307, url, to: new URL('https://example.com/x') })
  await expect(elsewhere.fetch(url)).rejects.toThrow(
    'The server redirects to https://example.com/x, which is not followed.',
  )
  expect(await (await asking(ANSWER).fetch(url)).text()).toBe('{}')
})

it('C34: only what the operator wrote is exempt from the check of addresses', async () => {
  const own = asking(ANSWER, ({ port }) => port === '8800')
  await own.fetch(url)
  await own.fetch('http://127.0.0.1:8801/')
  expect(own.asked.map(({ configured }) => configured)).toEqual([true, undefined])
})
