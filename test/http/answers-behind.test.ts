import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { streamRig } from './stream-rig.ts'

it('F-A20: what was asked for behind a stream ends with the connection, and no stop waits for it', async () => {
  const { hub, api, bearer } = await streamRig()
  const asked = (path: string) =>
    [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${api.port}`, `Authorization: ${bearer.authorization}`, '', ''].join(
      '\r\n',
    )
  const socket = connect({ host: '127.0.0.1', port: api.port })
  socket.write(['/v1/events', '/v1/events', '/v1/status'].map(asked).join(''))
  await expect.poll(() => hub.readers).toBe(2)
  socket.destroy()
  await once(socket, 'close')
  await expect.poll(() => hub.readers).toBe(0)
  // The clock stands, so that it ends because nobody is being answered.
  await api.close()
})
