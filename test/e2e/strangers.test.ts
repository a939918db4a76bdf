import { expect, it } from 'vitest'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { type Household, startHousehold } from './household.ts'

const house = (): Promise<Household> =>
  startHousehold({ routing: policy({ people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')] }) })

const sent = ({ telegram }: Household, chat: number, words: string, timeoutMs = 60_000) =>
  telegram.ledger.nextFromBot('sent', { where: (one) => one.chatId === chat && one.text.includes(words), timeoutMs })

/** So many people whom nobody knows, each with an id of their own. */
function strangers({ telegram }: Household, count: number): readonly number[] {
  const ids = Array.from({ length: count }, (_, index) => 900_000 + index)
  for (const id of ids) telegram.world.addUser({ id, firstName: 'Stranger' })
  return ids
}

it('2,000 strangers who ask at once do not keep the owner waiting, and the newest 1,000 of them are kept', async () => {
  const of = await house()
  const { telegram, daemon } = of
  telegram.world.say({ from: 111, text: 'hello' })
  await sent(of, 111, 'echo hello')
  const ids = strangers(of, 2_000)
  for (const from of ids) telegram.world.say({ from, text: 'let me in' })
  telegram.world.say({ from: 111, text: 'are you there?' })
  await sent(of, 111, 'echo are you there?')
  const last = ids.at(-1) ?? 0
  telegram.world.say({ from: last, text: 'and me?' })
  telegram.world.say({ from: 111, text: 'still there?' })
  await sent(of, 111, 'echo still there?')
  const listed = await daemon.operator.admissions.list()
  expect(listed.filter(({ toldAt }) => toldAt === undefined)).toHaveLength(1_000)
  expect(listed.map(({ key }) => key)).toContain(`telegram:${last}`)
}, 120_000)
