import { expect, it } from 'vitest'
import { household } from '../fakes/routing-policy.ts'
import { type Household, startHousehold } from './household.ts'
import { type SetClock, setClock } from './set-clock.ts'
import { startTwoMore, type TwoMore } from './three-platforms.ts'

const HOUR = 3_600_000
const STEPS = { 'an hour back': -HOUR, '90 s ahead': 90_000, 'a day ahead': 24 * HOUR }

interface World extends Household, TwoMore {
  readonly clock: SetClock
  readonly chat: number
}

async function threePlatforms(): Promise<World> {
  const clock = setClock(new Date().toISOString())
  const others = await startTwoMore()
  const people = household().people
  const house = await startHousehold({ clock, beside: others, routing: { people } })
  const { id: chat } = house.telegram.world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444] })
  return Object.assign(house, others, { clock, chat })
}

/** On each platform: asks, resolves when it is answered, and tells what the agent has said. */
function places({ telegram, discord, slack, chat, rooms }: World) {
  return [
    {
      say: (text: string) => telegram.world.say({ from: 111, chat, text }),
      answered: (text: string) =>
        telegram.ledger.next((one) => one.kind === 'message' && one.botId !== null && one.text.includes(text)),
      all: () => telegram.world.messages(chat, { by: 'bot' }).map(({ message }) => message.text ?? ''),
    },
    {
      say: (text: string) => discord.world.say({ from: '222', channel: rooms.discord, text }),
      answered: (text: string) =>
        discord.ledger.next((one) => one.kind === 'message' && one.byBot && one.text.includes(text)),
      all: () => discord.world.messages(rooms.discord, { bot: true }).map(({ message }) => message.content),
    },
    {
      say: (text: string) => slack.world.say({ from: 'U333', channel: rooms.slack, text }),
      answered: (text: string) =>
        slack.ledger.next((one) => one.kind === 'message' && one.byBot && one.text.includes(text)),
      all: () => slack.world.messages(rooms.slack, { by: 'bot' }).map(({ message }) => message.text),
    },
  ]
}

for (const [step, ms] of Object.entries(STEPS))
  it(`F-E05: with the clock set ${step} under traffic every chat goes on, nothing is doubled and nothing is lost`, async () => {
    const world = await threePlatforms()
    const chats = places(world)
    const ask = (text: string) =>
      chats.map(({ say, answered }) => {
        const shown = answered(text)
        say(text)
        return shown
      })
    await Promise.all(ask('first'))
    const meanwhile = ask('second')
    world.clock.setBy(ms)
    await Promise.all([...meanwhile, ...ask('third')])
    // And set right again, as a time service does.
    const later = ask('fourth')
    world.clock.setBy(-ms)
    await Promise.all([...later, ...ask('fifth')])

    const each = ['first', 'second', 'third', 'fourth', 'fifth'].map((text) => expect.stringContaining(text))
    for (const { all } of chats) expect(all()).toEqual(each)
    const { uncertain, channels } = await world.daemon.operator.status()
    expect(uncertain).toEqual([])
    expect(channels.map(({ status }) => status)).toEqual(['up', 'up', 'up'])
    await world.daemon.stop()
    for (const { all } of chats) expect(all()).toEqual(each)
  })
