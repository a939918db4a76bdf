import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { userMessage } from '../store/sample-rows.ts'
import { removeTempFolders } from '../store/temp-database.ts'
import { streamRig } from './stream-rig.ts'

removeTempFolders()

const long = (no: number) => userMessage(`${no} ${'x'.repeat(20_000)}`)

it('F-D03: whoever reads well is not cut off by one commit of many long events', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  const streams = await Promise.all(Array.from({ length: 3 }, () => rig.open(`/v1/sessions/${id}/events`)))
  const all = await rig.open('/v1/events')
  await rig.append(id, ...Array.from({ length: 40 }, (_, no) => long(no)))
  for (const stream of [...streams, all]) {
    const events = await stream.events(40)
    expect(events.map(({ data }) => (data as { seq: number }).seq)).toEqual(
      Array.from({ length: 40 }, (_, no) => no + 1),
    )
  }
  expect(rig.hub.readers).toBe(4)
})

it('F-D03: whoever stops reading is cut off, others go on, and what is held for them is not held once for each', async () => {
  const rig = await streamRig()
  const id = await rig.make()
  const { port } = rig.api
  const asking = `GET /v1/sessions/${encodeURIComponent(id)}/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`
  const sockets = Array.from({ length: 100 }, () => connect({ host: '127.0.0.1', port }).on('error', () => {}))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  for (const socket of sockets) socket.pause().write(`${asking}Authorization: ${rig.bearer.authorization}\r\n\r\n`)
  await expect.poll(() => rig.hub.readers).toBe(100)
  const reader = await rig.open(`/v1/sessions/${id}/events`)
  let seq = 0
  for (; rig.hub.readers > 1; seq += 20) {
    await rig.append(id, ...Array.from({ length: 20 }, (_, no) => userMessage(`${seq + no} ${'y'.repeat(3_000)}`)))
    await reader.events(20)
  }
  expect(seq).toBeGreaterThan(20)
})
