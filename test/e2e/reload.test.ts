import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { ParleyError } from '../../src/core/errors.ts'
import { toAgentId } from '../../src/core/ids.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { type Household, type HouseholdOptions, startHousehold } from './household.ts'
import { obedient } from './obedient.ts'

const ADA = owner('ada', 'telegram:111')
const closed = policy({ people: [ADA] })

/** A file the test writes: what the daemon finds in it when it reads it again. */
async function house(first: RoutingPolicy = closed, options: HouseholdOptions = {}) {
  const file: { routing: RoutingPolicy; mistake?: string } = { routing: first }
  const read = async (): Promise<Config> => {
    if (file.mistake) throw new ParleyError('config', file.mistake)
    return { routing: file.routing, warnings: [], down: [] } as unknown as Config
  }
  return Object.assign(await startHousehold({ ...options, routing: first, reload: read }), { file })
}

const sent = ({ telegram }: Household, chat: number, words: string) =>
  telegram.ledger.nextFromBot('sent', { where: (one) => one.chatId === chat && one.text.includes(words) })

describe('a policy that changes while the daemon runs', () => {
  it('an admission of a group about which a rule of the file decides says so, in chat and to the operator', async () => {
    const of = await house()
    const { telegram, daemon, file } = of
    telegram.world.say({ from: 111, text: 'hello' })
    await sent(of, 111, 'echo hello')
    const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'Club', members: [444] })
    telegram.world.say({ from: 444, chat, text: 'dinner at seven' })
    const [, code = ''] = /\/admit ([a-z0-9]{5})/.exec((await sent(of, 111, `telegram:group:${chat}`)).text) ?? []
    const rule = { match: { channel: 'telegram' }, who: 'allowlist', trigger: 'mention' } as const
    file.routing = policy({ people: [ADA], access: { direct: 'owner', groups: [rule] } })
    await daemon.operator.config.reload()
    telegram.world.say({ from: 111, text: `/admit ${code}` })
    expect((await sent(of, 111, 'noted as admitted')).text).toContain('routing.access.groups[0] decides there')
    const decided = await daemon.operator.admissions.decide(code, 'admit')
    expect(decided).toMatchObject({ state: 'admitted', ruledBy: 'routing.access.groups[0]' })
  })

  it('F-H14, S19: holds from the next message on, what was promised to be read is, and what got wider is named', async () => {
    const of = await house()
    const { telegram } = of
    telegram.world.say({ from: 444, text: 'hello?' })
    await sent(of, 444, 'only talk to people')
    of.file.routing = policy({
      people: [ADA, member('bob', 'telegram:444')],
      access: { direct: 'allowlist', groups: [] },
    })
    expect(await of.daemon.operator.config.reload()).toMatchObject({
      wider: [
        'people: bob: member (was guest)',
        'people: id telegram:444: member (was guest)',
        'routing.access.direct: allowlist (was owner)',
      ],
      narrower: [],
    })
    await sent(of, 444, 'echo hello?')
    telegram.world.say({ from: 444, text: 'and now?' })
    await sent(of, 444, 'echo and now?')
    of.file.routing = closed
    expect((await of.daemon.operator.config.reload()).narrower).toHaveLength(3)
    telegram.world.say({ from: 444, text: 'still?' })
    telegram.world.say({ from: 111, text: 'done' })
    await sent(of, 111, 'echo done')
    expect(telegram.world.messages(444, { by: 'bot' })).toHaveLength(3)
  })

  it('F-H14, K20: what joins conversations or answers more is named as wider, an empty list with what it means', async () => {
    const of = await house()
    of.file.routing = policy({
      people: [ADA],
      access: { direct: 'owner', groups: [{ match: {}, who: 'owner', trigger: 'always' }] },
      scope: 'global',
      dimensions: [],
      dispatch: [{ match: { chat: '-100' }, dimensions: [] }],
    })
    const { wider, warnings } = await of.daemon.operator.config.reload()
    const joined = 'nothing, all chats of an account are one session (was chat)'
    expect(wider).toEqual(
      expect.arrayContaining([
        'routing.access.groups: any other group: trigger: always (was mention)',
        'session.scope: global (was routed)',
        `session.dimensions: ${joined}`,
        `routing.dispatch: chat -100: sessions by: ${joined}`,
      ]),
    )
    expect(warnings).toEqual([
      expect.stringMatching(/^session\.dimensions: all chats of an account are one session/),
      expect.stringMatching(/^routing\.dispatch\[0\]\.dimensions: all chats of an account are one session/),
    ])
  })

  it.each([
    ['had in the configuration', ['telegram:444', 'telegram:555'], async () => {}],
    ['had linked', ['telegram:444'], ({ daemon }: Household) => daemon.operator.people.link('bob', 'telegram:555')],
  ] as const)(
    'S19: an id that a person %s and that is somebody else’s now opens none of their conversations',
    async (_, ids, given) => {
      const access = { direct: 'allowlist', groups: [] } as const
      const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: ['sessions'] }]
      const of = await house(policy({ people: [ADA, member('bob', ...ids)], access }), {
        script: obedient(),
        streaming: false,
        config: { agents },
      })
      await given(of)
      of.file.routing = policy({
        people: [ADA, member('bob', 'telegram:444'), member('cy', 'telegram:555')],
        access,
      })
      await of.daemon.operator.config.reload()
      of.telegram.world.say({ from: 555, text: 'my secret is bluebird' })
      await sent(of, 555, 'heard')
      of.telegram.world.say({ from: 444, text: 'sessions_history {"sessionKey":"telegram:direct:555"}' })
      await sent(of, 444, 'There is no session telegram:direct:555')
      of.telegram.world.say({ from: 555, text: 'sessions_history {"sessionKey":"telegram:direct:555"}' })
      await sent(of, 555, 'bluebird')
    },
  )

  it('F-K13: a file with a mistake changes nothing', async () => {
    const of = await house()
    of.file.mistake = 'parley.yaml:3: people.bob.role: must be owner or member'
    await expect(of.daemon.operator.config.reload()).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('parley.yaml:3'),
    })
    of.telegram.world.say({ from: 111, text: 'hello' })
    await sent(of, 111, 'echo hello')
  })

  it('K16: two people with one id are refused at a reload as at the start, and the old policy holds', async () => {
    const of = await house()
    of.file.routing = policy({ people: [ADA, member('bob', 'telegram:111')] })
    await expect(of.daemon.operator.config.reload()).rejects.toMatchObject({ code: 'invalid' })
    of.telegram.world.say({ from: 111, text: 'hello' })
    await sent(of, 111, 'echo hello')
  })

  it('K16: a link that the new policy overrules is told, and the configuration wins', async () => {
    const of = await house()
    await of.daemon.operator.people.link('ada', 'telegram:444')
    of.telegram.world.say({ from: 444, text: 'it is me' })
    await sent(of, 444, 'echo it is me')
    of.file.routing = policy({ people: [ADA, member('bob', 'telegram:444')] })
    expect((await of.daemon.operator.config.reload()).warnings).toEqual([
      expect.stringContaining('telegram:444 is linked to ada too; the configuration wins'),
    ])
    of.telegram.world.say({ from: 444, text: 'and now?' })
    of.telegram.world.say({ from: 111, text: 'done' })
    await sent(of, 111, 'echo done')
    expect(of.telegram.world.messages(444, { by: 'bot' })).toHaveLength(1)
  })

  it('without a file to read it says so', async () => {
    const of = await startHousehold({ routing: closed })
    await expect(of.daemon.operator.config.reload()).rejects.toMatchObject({ code: 'unavailable' })
  })
})
