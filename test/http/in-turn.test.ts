import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it, vi } from 'vitest'
import { raw } from './raw-socket.ts'
import { apiRig } from './rig.ts'
import { streamRig } from './stream-rig.ts'

const MANY = 20_000

it('F-K07: of thousands of requests that one connection sends without waiting one is begun, and the connection ends', async () => {
  const rig = await apiRig()
  const { headers } = await rig.bearer(['chat'])
  const asked = vi.spyOn(rig.operator.chat, 'models')
  const request = `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nAuthorization: ${headers.authorization}\r\n\r\n`
  await raw(rig.port, request.repeat(MANY))
  expect(asked.mock.calls.length).toBeLessThanOrEqual(1)
  expect((await rig.ask('/v1/models', { headers })).status).toBe(200)
})

it('a request that comes before the end of an answer waits for it, and is answered behind it', async () => {
  const rig = await apiRig()
  const { headers } = await rig.bearer(['chat'])
  const asked = (path: string, more = '') =>
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nAuthorization: ${headers.authorization}\r\n${more}\r\n`
  const told = await raw(rig.port, asked('/v1/models') + asked('/v1/nothing', 'Connection: close\r\n'))
  expect([...told.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['200', '404'])
})

it('F-A20: what was asked for behind a stream is never begun, and ends with the connection', async () => {
  const { hub, api, bearer } = await streamRig()
  const asked = `GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:${api.port}\r\nAuthorization: ${bearer.authorization}\r\n\r\n`
  const socket = connect({ host: '127.0.0.1', port: api.port })
  socket.write(asked.repeat(2))
  await expect.poll(() => hub.readers).toBe(1)
  socket.destroy()
  await once(socket, 'close')
  await expect.poll(() => hub.readers).toBe(0)
  // The clock stands, so that it ends because nobody is being answered.
  await api.close()
})
