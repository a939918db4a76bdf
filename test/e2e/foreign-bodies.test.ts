import { expect, it } from 'vitest'
import { SCOPES } from '../../src/core/token.ts'
import { startApiHouse } from './api-house.ts'

const HALF = String.raw`cut \ud83d and \\ud83d, \uD83D\uDE00`
const WHOLE = 'cut \ufffd and \\ud83d, 😀'

it('door api: half a character that a body writes is in no history, no export and no request to a model', async () => {
  const house = await startApiHouse()
  const { headers } = await house.bearer({ owner: true, scopes: SCOPES })
  const say = { method: 'POST', headers }
  await house.ask('/v1/sessions/cli:halves/messages', { ...say, body: `{"text":"${HALF}"}` })
  const read = async (path: string) => (await house.ask(path, { headers })).text
  const { events } = await house.daemon.operator.sessions.show('cli:halves')
  expect(events.map(({ text }) => text)).toEqual(expect.arrayContaining([`operator: ${WHOLE}`, `echo ${WHOLE}`]))
  for (const path of ['sessions/cli%3Ahalves/history', 'archives/cli%3Ahalves']) {
    const text = await read(`/v1/${path}`)
    expect(text).toContain('\ufffd')
    expect(text).not.toMatch(/(?<!\\)\\ud83d/i)
  }
  const chat = { model: 'main', messages: [{ role: 'user', content: 'HALF' }] }
  const { json } = await house.ask('/v1/chat/completions', { ...say, body: JSON.stringify(chat).replace('HALF', HALF) })
  expect(JSON.stringify(json)).toContain(JSON.stringify(WHOLE).slice(1, -1))
})

it.each([
  ['/v1/sessions/cli:marks/messages', (text: string) => `{"text":"${text}"}`],
  ['/v1/chat/completions', (text: string) => `{"model":"main","messages":[{"role":"user","content":"${text}"}]}`],
])('door api: %s takes a mark of UTF-8, and says that it has to be UTF-8 for anything else', async (path, bodyOf) => {
  const house = await startApiHouse()
  const { headers } = await house.bearer({ owner: true, scopes: SCOPES })
  const send = async (body: Buffer, type = 'application/json') => {
    const response = await fetch(`http://127.0.0.1:${house.port()}${path}`, {
      ...{ method: 'POST', headers: { ...headers, 'content-type': type }, body: new Uint8Array(body) },
    })
    return { status: response.status, text: await response.text() }
  }
  const json = bodyOf('Größe')
  for (const type of [
    'application/json',
    'application/json; charset="UTF8"',
    'text/plain; charset=us-ascii',
    'x; charset=klingon',
  ])
    expect([type, (await send(Buffer.from(`\ufeff${json}`), type)).status]).toEqual([type, 200])
  const wrong = [
    await send(Buffer.from(json, 'latin1')),
    await send(Buffer.from(json, 'latin1'), 'application/json; charset=ISO-8859-1'),
    await send(Buffer.from(json), 'application/json;charset=windows-1251'),
    await send(Buffer.from(`\ufeff${json}`, 'utf16le')),
    await send(Buffer.from(json, 'utf16le').swap16()),
  ]
  for (const { status, text } of wrong) expect([status, text]).toEqual([400, expect.stringContaining('UTF-8')])
  for (const empty of ['', '\ufeff']) {
    const { status, text } = await send(Buffer.from(empty))
    expect([status, text]).toEqual([400, expect.stringMatching(/empty.*Send a JSON object/)])
  }
})
