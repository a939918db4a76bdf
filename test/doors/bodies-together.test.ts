import { connect, type Socket } from 'node:net'
import { HonoRequest } from 'hono/request'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DOORS } from '../../src/core/doors.ts'
import { createBodyRoom } from '../../src/http/read-body.ts'
import { sampleSession } from '../fakes/operator.ts'
import { apiRig } from '../http/rig.ts'

const CHAT = '/v1/chat/completions'
const MB = 1024 * 1024
const PIECE = new Uint8Array(MB)

/** Returns the request of a chat with so many megabytes, `open`: without an end. */
function chatOf(megabytes: number, { open = false } = {}): HonoRequest {
  let left = megabytes
  const body = new ReadableStream({
    pull(controller) {
      if (left-- > 0) controller.enqueue(PIECE)
      else if (!open) controller.close()
    },
  })
  return new HonoRequest(
    new Request(`http://local${CHAT}`, { method: 'POST', body, duplex: 'half' } as RequestInit),
    CHAT,
  )
}

describe('door chat: bodies that are held together', () => {
  it('of one token: 64 MB, finished or not; one more is too_many and takes no room; an answered one gives its room back', async () => {
    const bodyOf = createBodyRoom()
    const held = [20, 20, 20].map((megabytes) => bodyOf(chatOf(megabytes), 'a', true))
    for (const body of held) await body.bytes()
    const refused = bodyOf(chatOf(5), 'a', true)
    await expect(refused.bytes()).rejects.toMatchObject({ code: 'too_many', seconds: expect.any(Number) })
    refused.release()
    const small = bodyOf(chatOf(4), 'a', true)
    expect((await small.bytes()).length).toBe(4 * MB)
    await expect(bodyOf(chatOf(1), 'a', true).bytes()).rejects.toMatchObject({ code: 'too_many' })
    held[0]?.release()
    expect((await bodyOf(chatOf(20), 'a', true).bytes()).length).toBe(20 * MB)
  })

  it('of all tokens of namespaces: 128 MB, and those of an owner find room beside them', async () => {
    const bodyOf = createBodyRoom()
    const read = async (megabytes: number, holder: string | undefined, shared: boolean | undefined) => {
      await bodyOf(chatOf(megabytes), holder, shared).bytes()
    }
    for (const holder of ['a', 'b', 'c', 'd', 'e', 'f']) await read(20, holder, true)
    await expect(read(20, 'g', true)).rejects.toMatchObject({ code: 'too_many' })
    await expect(read(20, undefined, undefined)).rejects.toMatchObject({ code: 'too_many' })
    for (let chats = 0; chats < 3; chats++) await read(20, 'owner', false)
    await expect(read(20, 'other owner', false)).rejects.toMatchObject({ code: 'too_many' })
  })

  it('uploads without an end: what exceeds the room is 429 with Retry-After and closed, and room comes back with their ends', async () => {
    const rig = await apiRig()
    const { headers } = await rig.bearer(['chat', 'sessions:write'])
    const head = [
      ...[`POST ${CHAT} HTTP/1.1`, `Host: 127.0.0.1:${rig.port}`, `Authorization: ${headers.authorization}`],
      ...[`Content-Length: ${DOORS.chat.bytes}`, '', ''],
    ].join('\r\n')
    /** Uploads all of a body but its last megabyte, and then what is given as its end. */
    function upload(end: readonly Uint8Array[]): Socket {
      const socket = connect({ host: '127.0.0.1', port: rig.port })
      onTestFinished(() => void socket.destroy())
      socket.on('error', () => undefined)
      socket.setEncoding('latin1').write(head)
      for (let sent = MB; sent < DOORS.chat.bytes; sent += MB) socket.write(PIECE)
      for (const piece of end) socket.write(piece)
      return socket
    }
    const answered: string[] = []
    const open = Array.from({ length: 4 }, () => upload([]).on('data', (told: string) => answered.push(told)))
    await Promise.race(open.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
    expect(answered).toEqual([
      expect.stringMatching(/^HTTP\/1\.1 429 [\s\S]*retry-after: \d[\s\S]*rate_limit_exceeded/i),
    ])
    const other = await rig.bearer(['sessions:write'])
    const named = { method: 'POST', body: '{"title":"x"}' }
    expect(
      (await rig.ask(`/v1/sessions/${encodeURIComponent(sampleSession.id)}/name`, { ...named, headers: other.headers }))
        .status,
    ).toBe(200)
    for (const socket of open) socket.destroy()
    const whole = () =>
      new Promise<string>((resolve) => {
        const socket = upload([PIECE])
        socket.once('data', (told: string) => resolve(told.slice(9, 12))).once('close', () => resolve('closed'))
      })
    await expect.poll(whole).toBe('400')
  })
})
