import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { mediaId } from '../../../src/core/ids.ts'
import { png } from '../../fakes/files.ts'
import { addressOf, openRig } from './rig.ts'

test('R9: a file goes out also where another library has brought the dispatcher of the process', async () => {
  const before = getGlobalDispatcher()
  const agent = new Agent()
  setGlobalDispatcher(agent)
  const rig = await openRig()
  onTestFinished(async () => {
    await rig.close()
    setGlobalDispatcher(before)
    await agent.close()
  })
  const bytes = png(4, 4)
  const part = {
    address: addressOf('channel', rig.channel.id),
    rendered: { text: 'here', plain: 'here', markup: 'markdown' as const },
    key: 'once',
    file: {
      ...{ media: mediaId('0'.repeat(64)), name: 'a.png', mime: 'image/png', size: bytes.length },
      as: 'picture' as const,
    },
  }
  expect(await rig.adapter.sendFile({ ...part, bytes }, rig.signal)).toMatchObject({ kind: 'sent' })
  const [call] = rig.server.ledger.calls('createMessage')
  expect(call?.files).toMatchObject([{ name: 'a.png', type: 'image/png' }])
  expect(Buffer.from(call?.files?.[0]?.bytes ?? [])).toEqual(Buffer.from(bytes))
})
