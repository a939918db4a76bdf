import { expect, test } from 'vitest'
import { openRig, TURN } from './rig.ts'

test('typing is shown while the turn runs and ends with it', async () => {
  const rig = await openRig()
  const from = rig.clock.now()
  const end = rig.delivery.typing(TURN)
  await rig.pass(9_000)
  end()
  await rig.pass(60_000)
  expect(rig.channel.typed.map((call) => call.at - from)).toEqual([500, 4_500, 8_500])
})

test('whatever happens above, typing ends after two minutes and leaves no timer', async () => {
  const rig = await openRig()
  const from = rig.clock.now()
  rig.delivery.typing(TURN)
  await rig.pass(10 * 60_000)
  expect((rig.channel.typed.at(-1)?.at ?? 0) - from).toBeLessThan(120_000)
  expect(rig.clock.nextDue()).toBe(Number.POSITIVE_INFINITY)
})

test('a failing indicator is dropped and typing goes on', async () => {
  const rig = await openRig()
  rig.channel.showTyping = async ({ chat }) => {
    rig.channel.typed.push({ to: chat, at: rig.clock.now() })
    throw new Error('no')
  }
  const end = rig.delivery.typing(TURN)
  await rig.pass(5_000)
  end()
  expect(rig.channel.typed).toHaveLength(2)
})

test('a turn that ends at once shows no typing', async () => {
  const rig = await openRig()
  rig.delivery.typing(TURN)()
  await rig.pass(5_000)
  expect(rig.channel.typed).toEqual([])
})

test('T31: a denied session shows no typing', async () => {
  const rig = await openRig()
  rig.verdictOf = ({ session }) => ({ allowed: session?.id !== TURN.session.id, because: 'override' })
  rig.delivery.typing(TURN)
  await rig.pass(5_000)
  expect(rig.channel.typed).toEqual([])
})
