import { connect } from 'node:net'
import { HonoRequest } from 'hono/request'
import { describe, expect, it } from 'vitest'
import { HttpListener } from '../../adapters/shared/http-listener.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createBodyRoom } from '../../src/http/read-body.ts'
import { freePort } from '../adapters/free-port.ts'
import { ManualClock } from '../adapters/telegram/manual-clock.ts'
import { raw, statusesOf } from '../http/raw-socket.ts'
import { apiRig } from '../http/rig.ts'

const MANY = 75_000
const TINY = '1\r\n \r\n'

describe('door chat: a body in small pieces', () => {
  it('of one byte each: no more than a thousand are read, and it is invalid', async () => {
    let read = 0
    const body = new ReadableStream({
      pull(controller) {
        read++
        controller.enqueue(new Uint8Array(1))
      },
    })
    const path = '/v1/chat/completions'
    const request = new Request(`http://local${path}`, { method: 'POST', body, duplex: 'half' } as RequestInit)
    const room = createBodyRoom()(new HonoRequest(request, path), 'a', true)
    await expect(room.bytes()).rejects.toMatchObject({ code: 'invalid' })
    expect(read).toBeLessThan(1_100)
  })

  it('over the wire: it is answered with 400, and its connection ends', async () => {
    const rig = await apiRig()
    const { headers } = await rig.bearer(['chat'])
    const head = [
      ...['POST /v1/chat/completions HTTP/1.1', `Host: 127.0.0.1:${rig.port}`],
      ...[`Authorization: ${headers.authorization}`, 'Transfer-Encoding: chunked', '', ''],
    ].join('\r\n')
    expect(statusesOf(await raw(rig.port, head + TINY.repeat(MANY)))).toEqual(['400'])
  })
})

describe('door webhook: a body in small pieces', () => {
  it('of one byte each: its sender is cut off, and nothing is handled', async () => {
    const listen = { host: '127.0.0.1', port: await freePort(), path: '/in' }
    const settings = { what: "Nobody's events", listen, account: 'default', clock: new ManualClock() }
    let handled = 0
    const listener = new HttpListener(
      { ...settings, logger: silentLogger, mostBytes: 1024 * 1024 },
      {
        handle: async () => {
          handled++
          return { status: 200 }
        },
      },
    )
    await listener.start()
    const socket = connect({ host: listen.host, port: listen.port })
    socket.on('error', () => {}).resume()
    socket.write(`POST /in HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${TINY.repeat(MANY)}0\r\n\r\n`)
    await new Promise((resolve) => socket.once('close', resolve))
    await listener.stop()
    expect(handled).toBe(0)
  })
})
