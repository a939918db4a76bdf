import { expect, it } from 'vitest'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { heard } from './forgetting-house.ts'
import { recorded, startHousehold } from './household.ts'

/** Cy's id was linked to Bob when he asked something in the group. */
async function asBob() {
  const home = await startHousehold({
    ...{ script: heard, streaming: false },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [{ match: {}, who: 'public', trigger: 'mention' }] },
    }),
  })
  const { world, ledger } = home.telegram
  const { people } = home.daemon.operator
  const { id: chat } = world.addChat({ type: 'supergroup', title: 'Family', members: [111, 444, 555] })
  const say = async (text: string, from: number, replyTo?: number) => {
    const after = ledger.mark()
    const { message_id: id } = world.say({ from, text, chat, ...(replyTo === undefined ? {} : { replyTo }) })
    const { text: answer } = await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
    await recorded(home)
    return { answer, id }
  }
  await people.link('bob', 'telegram:555')
  const { id } = await say('@parley_bot the canary sings', 555)
  return { home, people, say, id, prompt: () => JSON.stringify(home.anthropic?.ledger.requests().at(-1)?.messages) }
}

it('F-H13: what an id said while it was theirs is taken back and forgotten by its person while it is theirs', async () => {
  const { say } = await asBob()
  expect((await say('/undo', 444)).answer).toMatch(/^Taken back/)
})

it('F-H13: and not any more once it is somebody else’s', async () => {
  const { people, say, id, prompt } = await asBob()
  await people.unlink('telegram:555')
  expect((await say('/undo', 444)).answer).toMatch(/^The last exchange here is not yours alone/)
  expect((await say('/forget', 444, id)).answer).toMatch(/^That message is not yours/)
  await say('/forget me yes', 444)
  await say('@parley_bot and now?', 444)
  expect(prompt()).toContain('the canary sings')
  expect((await say('/forget me yes', 555)).answer).toMatch(/^Forgotten: /)
  await say('@parley_bot and now?', 444)
  expect(prompt()).not.toContain('the canary sings')
})
