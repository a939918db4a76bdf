import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { withDatabase } from '../store/temp-database.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { startSlackHousehold } from './slack-household.ts'

/** A plain word, no code and no number: alone in a text it repeats nothing. */
const WORD = 'quorlimvash'

async function house() {
  const home = await forgettingHouse({
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [] },
    }),
  })
  return { ...home, held: () => holding(home.home.dataDir, WORD) }
}

describe('a conversation of which the last words have gone before', () => {
  it.each(['/forget chat yes', '/forget me yes'])('S41: loses its title by %s', async (asked) => {
    const { held, say } = await house()
    await say('hello')
    expect(await say('/forget last')).toMatch(/^Forgotten: /)
    await say(`/title ${WORD}`)
    await say(asked)
    expect(held()).toEqual([])
  })

  it('S41: loses the name of its person with all of their words', async () => {
    const { held, say, world } = await house()
    world.addUser({ id: 777, firstName: WORD })
    await say('hello', { from: 777 })
    expect(await say('/forget last', { from: 777 })).toMatch(/^Forgotten: /)
    expect(held()).not.toEqual([])
    await say('/forget me yes', { from: 777 })
    expect(held()).toEqual([])
  })
})

it('S41: the name of a person of Slack goes from their own chat with all of their words', async () => {
  const { slack, daemon, dataDir } = await startSlackHousehold({ script: () => textReply('fine') })
  const { world, ledger } = slack
  world.addUser({ id: 'U333', name: 'ada', displayName: WORD })
  const after = ledger.mark()
  world.say({ from: 'U333', text: 'hello' })
  await ledger.nextFromBot('sent', { after })
  const names = () =>
    withDatabase(join(dataDir, 'parley.db'), (db) => db.prepare('SELECT metadata FROM sessions').all())
  await expect.poll(() => JSON.stringify(names())).toContain(WORD)
  await daemon.operator.forgetting.forget({ kind: 'person', name: 'ada', confirmed: true })
  expect(JSON.stringify(names())).not.toContain(WORD)
})
