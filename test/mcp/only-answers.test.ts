import { expect, it } from 'vitest'
import { onlyAnswers } from '../../src/mcp/only-answers.ts'

const ANSWER = { jsonrpc: '2.0', id: 1, result: { content: [] } }
const NOTICE = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
const ASKED = { jsonrpc: '2.0', id: 7, method: 'sampling/createMessage' }

async function through(body: string | null, type: string, status = 200): Promise<Response> {
  const answered = async () => new Response(body, { status, headers: { 'content-type': type, 'mcp-session-id': 's' } })
  return onlyAnswers(answered)('http://127.0.0.1/mcp')
}

const event = (message: unknown, end = '\n'): string =>
  `event: message${end}data: ${JSON.stringify(message)}${end}${end}`

it.each(['\n', '\r\n'])('of a stream of events only the answers are left (%j)', async (end) => {
  const flood = event(NOTICE, end).repeat(5_000)
  const stream = `: hello${end}${end}${flood}${event(ASKED, end)}data: torn${end}${end}${event(ANSWER, end)}${flood}`
  const kept = await (await through(stream, 'text/event-stream; charset=utf-8')).text()
  expect(kept.trim().split(/\s*\r?\n/)).toEqual(['event: message', `data: ${JSON.stringify(ANSWER)}`])
})

it('an answer without an end of its event is kept', async () => {
  const kept = await (await through(`data: ${JSON.stringify(ANSWER)}`, 'text/event-stream')).text()
  expect(kept).toBe(`data: ${JSON.stringify(ANSWER)}\n\n`)
})

it('everything else has its turn while a stream is read', async () => {
  let turns = 0
  let over = false
  const count = (): void => {
    turns++
    if (!over) setImmediate(count)
  }
  count()
  await through(event(NOTICE).repeat(50_000), 'text/event-stream')
  over = true
  expect(turns).toBeGreaterThan(20)
})

it('of a list only the answers are left, and one message is passed', async () => {
  expect(await (await through(JSON.stringify([NOTICE, ANSWER, ASKED, 7]), 'application/json')).json()).toEqual([ANSWER])
  const one = await through(JSON.stringify(ANSWER), 'application/json')
  expect([await one.json(), one.headers.get('mcp-session-id')]).toEqual([ANSWER, 's'])
})

it('what is refused, or has no body, is passed as it is', async () => {
  expect(await (await through('no', 'text/plain', 400)).text()).toBe('no')
  expect((await through(null, 'text/plain', 202)).status).toBe(202)
})
