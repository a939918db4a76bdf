import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import { lastUserText, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { household, owner } from '../fakes/routing-policy.ts'
import { CASE } from './rounds.ts'
import { ADA, KILLED, type Scene, startScene } from './scene.ts'

const CY = 555

async function operator({ socketPath }: Scene) {
  const daemon = await connectLocal(socketPath)
  if (daemon === undefined) throw new Error('no daemon runs')
  return daemon
}

it(
  'F-H04: killed right after the commit that dropped what waited from a parted chat: it is notified all the same',
  CASE,
  async (test) => {
    const gate = createGate()
    const scene = await startScene(test, {
      script: (request) =>
        textReply('done', lastUserText(request) === 'slow' ? { holds: [{ beforeDelta: 0, gate }] } : {}),
      routing: household({ direct: 'person', people: [owner('ada', `telegram:${ADA}`)] }),
    })
    const { world } = scene.telegram
    world.addUser({ id: CY, firstName: 'Cy' })
    const armFile = `${scene.socketPath}.armed`
    await scene.daemon.start('CP10-outbox-planned', armFile)
    const { people, why } = await operator(scene)
    await people.link('ada', `telegram:${CY}`)
    world.say({ from: ADA, text: 'slow' })
    await gate.reached
    const { message_id: id } = world.say({ from: CY, text: 'what do you know?' })
    await expect.poll(async () => (await why(String(id))).some(({ sender }) => sender.id === String(CY))).toBe(true)
    await people.unlink(`telegram:${CY}`)
    writeFileSync(armFile, '')
    gate.release()
    expect(await scene.daemon.exited()).toEqual(KILLED)
    await scene.daemon.start()
    await scene.sent('Please send it again', { chat: CY })
    const { inbox } = await scene.finish()
    expect(inbox.find(({ chat }) => chat === String(CY))).toMatchObject({ outcome: 'refused: parted' })
  },
)

it(
  'killed right after the commit that refused a message since too many wait: its sender is notified all the same',
  CASE,
  async (test) => {
    const gate = createGate()
    const scene = await startScene(test, {
      script: () => textReply('done', { holds: [{ beforeDelta: 0, gate }] }),
      config: { session: { queue: { max: 1, busy: 'queue' } } },
    })
    const { world } = scene.telegram
    const armFile = `${scene.socketPath}.armed`
    await scene.daemon.start('CP2-committed', armFile)
    const { why } = await operator(scene)
    world.say({ from: ADA, text: 'slow' })
    await gate.reached
    const { message_id: waits } = world.say({ from: ADA, text: 'this one waits' })
    await expect.poll(async () => (await why(String(waits))).length).toBe(1)
    writeFileSync(armFile, '')
    world.say({ from: ADA, text: 'this one is too many' })
    expect(await scene.daemon.exited()).toEqual(KILLED)
    gate.release()
    await scene.daemon.start()
    await scene.sent('I have more messages waiting here', { chat: ADA })
    await scene.finish()
  },
)

it(
  'killed right after the commit that refused a stranger: they are notified all the same, once',
  CASE,
  async (test) => {
    const routing = household({ people: [owner('ada', `telegram:${ADA}`)] })
    const scene = await startScene(test, { routing, model: 'scripted/echo' })
    const { world } = scene.telegram
    world.addUser({ id: CY, firstName: 'Cy' })
    await scene.daemon.start('CP2-committed')
    world.say({ from: CY, text: 'who are you?' })
    expect(await scene.daemon.exited()).toEqual(KILLED)
    await scene.daemon.start()
    await scene.sent('I only talk to people my owner has let in', { chat: CY })
    world.say({ from: CY, text: 'hello?' })
    await scene.settle([ADA])
    await scene.finish()
    expect(scene.texts(CY)).toHaveLength(1)
  },
)
