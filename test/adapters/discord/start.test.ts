import { afterEach, describe, expect, test } from 'vitest'
import { RecordingLogger } from '../telegram/recording-logger.ts'
import { adapterFor, addressOf, openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

async function open(options: Parameters<typeof openRig>[0] = {}): Promise<Rig> {
  const rig = await openRig(options)
  rigs.push(rig)
  return rig
}

describe('start', () => {
  test('tells who the bot is, and is up with a proof', async () => {
    const rig = await open()
    await rig.listen()
    expect(rig.adapter.health()).toMatchObject({
      status: 'up',
      identity: { id: '900000000000000001', username: 'parley' },
      lastProofAt: expect.any(Number),
    })
  })

  test('asks for the four intents and no more', async () => {
    const rig = await open()
    await rig.listen()
    rig.server.world.say({ from: rig.ada, channel: rig.channel, text: 'no mention' })
    rig.server.world.say({ from: rig.ada, text: 'direct' })
    await rig.sink.committed(2)
    expect(new Set(rig.sink.texts)).toEqual(new Set(['no mention', 'direct']))
  })

  test('F-B13: a wrong token is down for good with the remedy', async () => {
    const rig = await open()
    const adapter = adapterFor(rig.server, { token: 'another' })
    await expect(adapter.start(rig.sink, rig.signal)).rejects.toMatchObject({
      name: 'ChannelDown',
      permanent: true,
      message: expect.stringContaining('Reset Token'),
    })
    expect(adapter.health()).toMatchObject({ status: 'down', detail: expect.stringContaining('refuses the token') })
  })

  test('F-B13: a Message Content intent that is off is down for good with the remedy, and works once it is on', async () => {
    const rig = await open({ server: { messageContent: false } })
    await expect(rig.listen()).rejects.toMatchObject({
      name: 'ChannelDown',
      permanent: true,
      message: 'Message Content intent is off: Developer Portal → Bot → Privileged Gateway Intents',
    })
    rig.server.messageContent = true
    await rig.listen()
    expect(rig.adapter.health().status).toBe('up')
  })

  test.each([4011, 4013])('F-B13: the close %i is down for good', async (code) => {
    const rig = await open()
    rig.server.gateway.refuseNext(code)
    await expect(rig.listen()).rejects.toMatchObject({ name: 'ChannelDown', permanent: true })
  })

  test.each(['me', 'gatewayBot'])('a platform that does not answer %s is down for now', async (method) => {
    const rig = await open()
    rig.server.faults.add({ method, action: { kind: 'reset', when: 'before' } })
    await expect(rig.listen()).rejects.toMatchObject({ name: 'ChannelDown', permanent: false })
    await rig.listen()
    expect(rig.adapter.health().status).toBe('up')
  })

  test('an apiRoot that is none says so', async () => {
    const rig = await open()
    const adapter = adapterFor(rig.server, { apiRoot: rig.server.apiRoot.replace('/api', '/elsewhere') })
    await expect(adapter.start(rig.sink, rig.signal)).rejects.toMatchObject({ message: expect.stringContaining('404') })
  })

  test('is refused a second time while it runs', async () => {
    const rig = await open()
    await rig.listen()
    await expect(rig.adapter.start(rig.sink, rig.signal)).rejects.toMatchObject({ code: 'conflict' })
  })
})

test('F-J02: the token is in no error, health or log', async () => {
  const logger = new RecordingLogger()
  const token = 'MTk4.canary.token'
  const rig = await open({ logger, server: { token } })
  rig.server.faults.add({ method: 'me', action: { kind: 'answer', when: 'before', status: 500, body: '<html>' } })
  const errors: unknown[] = [await rig.listen().catch((error: unknown) => error)]
  rig.server.messageContent = false
  errors.push(await rig.listen().catch((error: unknown) => error))
  rig.server.faults.add({ method: 'createMessage', action: { kind: 'reset', when: 'after' } })
  const part = { text: 'x', plain: 'x', markup: 'plain' as const }
  const sent = await rig.adapter.send({ address: addressOf('direct', '5'), key: 'k', rendered: part }, rig.signal)
  const seen = [...errors.map(everything), JSON.stringify([rig.adapter.health(), sent, logger.lines])].join('\n')
  expect(errors).toHaveLength(2)
  expect(seen).not.toContain('canary')
})

/** Messages, stacks and causes, all the way down. */
function everything(value: unknown): string {
  if (!(value instanceof Error)) return JSON.stringify(value)
  return `${value.message} ${value.stack} ${everything(value.cause ?? null)}`
}
