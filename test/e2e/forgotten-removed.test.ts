import { expect, it } from 'vitest'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { recorded } from './household.ts'

const WORDS = 'zqx eel'

it('S41: whoever was taken off the list is forgotten by their id, with what they had remembered and reminded of', async () => {
  const ada = owner('ada', 'telegram:111')
  const access = { direct: 'allowlist', groups: [{ match: {}, who: 'public', trigger: 'mention' }] } as const
  const { home, world, say, addGroup } = await forgettingHouse({
    routing: policy({ people: [ada, member('bob', 'telegram:444')], access }),
  })
  const chat = addGroup('Family')
  await say('hello', { chat })
  await say('hello')
  world.say({ from: 444, chat, text: WORDS })
  await say(`/remember ${WORDS}`, { from: 444, chat })
  await say(`/remind in 3 hours ${WORDS}`, { from: 444 })
  await say(`/title ${WORDS}`, { from: 444 })
  await recorded(home)
  await home.restart({ routing: policy({ people: [ada], access }) })
  expect(await say('/forget telegram:444 yes')).toMatch(/^Forgotten/)
  await expect.poll(() => holding(home.dataDir, WORDS)).toEqual([])
})
