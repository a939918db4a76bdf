import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { household, owner, policy } from '../fakes/routing-policy.ts'
import { type Household, recorded, startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const nobody = { routing: policy() }

async function codeOf({ daemon }: Household): Promise<string> {
  const [claim] = (await daemon.operator.status()).claims
  return new URL(claim?.link ?? '').searchParams.get('start') ?? ''
}

describe('ownership', () => {
  it('prints a link whose code makes the first to send it the owner', async () => {
    const house = await startHousehold(nobody)
    const { telegram } = house
    telegram.world.say({ from: 111, text: `/start ${await codeOf(house)}` })
    expect((await telegram.ledger.nextFromBot('sent')).text).toContain('You are my owner now')
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: 111, text: 'hello' })
    expect((await telegram.ledger.nextFromBot('sent', { after: mark })).text).toBe('echo hello')
    expect(await house.daemon.operator.status()).toMatchObject({ ownerKnown: true, claims: [] })
  })

  it('is known after a restart, by id', async () => {
    const house = await startHousehold(nobody)
    const { telegram } = house
    telegram.world.say({ from: 111, text: `/start ${await codeOf(house)}` })
    await telegram.ledger.nextFromBot('sent')
    await house.restart()
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: 111, text: 'hello again' })
    expect((await telegram.ledger.nextFromBot('sent', { after: mark })).text).toBe('echo hello again')
  })

  it('is of the same person once the configuration names them: their reminders are listed, said and cancelled', async () => {
    const clock = setClock('2026-11-24T09:20:00Z')
    const house = await startHousehold({ ...nobody, clock })
    const { telegram } = house
    const heard = async (after: number): Promise<string> => (await telegram.ledger.nextFromBot('sent', { after })).text
    const say = async (text: string): Promise<string> => {
      const after = telegram.ledger.mark()
      telegram.world.say({ from: 111, text })
      return heard(after)
    }
    await say(`/claim ${await codeOf(house)}`)
    const [, stretch] = /cancel (r\w+)/.exec(await say('/remind every 2h stretch')) ?? []
    await house.restart({ routing: household({ people: [owner('ada', 'telegram:111')] }) })
    expect(await say('/remind list')).toContain(`stretch, by owner (/remind cancel ${stretch})`)
    await recorded(house)
    const before = telegram.ledger.mark()
    clock.skip(2 * 3_600_000)
    expect(await heard(before)).toBe('Reminder: stretch')
    expect(await say(`/remind cancel ${stretch}`)).toMatch(/^Cancelled: .*: stretch, by owner$/)
  })

  it('F-H03: stays with the id when the username passes to another account', async () => {
    const house = await startHousehold(nobody)
    const { telegram } = house
    telegram.world.addUser({ id: 601, firstName: 'Ada', username: 'ada' })
    telegram.world.say({ from: 601, text: `/start ${await codeOf(house)}` })
    await telegram.ledger.nextFromBot('sent')
    telegram.world.addUser({ id: 602, firstName: 'Ada', username: 'ada' })
    const taken = telegram.ledger.mark()
    telegram.world.say({ from: 602, text: 'hello' })
    const refusal = await telegram.ledger.nextFromBot('sent', { after: taken, where: ({ chatId }) => chatId === 602 })
    expect(refusal.text).toContain('only talk to people my owner has let in')
    const kept = telegram.ledger.mark()
    telegram.world.say({ from: 601, text: 'hello' })
    await telegram.ledger.nextFromBot('sent', { after: kept, where: ({ text }) => text === 'echo hello' })
  })

  it('is given to whoever sends nothing but the code in a direct chat, within the same wrong tries, and in no group', async () => {
    const house = await startHousehold(nobody)
    const { telegram, daemon } = house
    const say = async (from: number, text: string): Promise<string> => {
      const after = telegram.ledger.mark()
      telegram.world.say({ from, text })
      return (await telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === from })).text
    }
    const { id: chat } = telegram.world.addChat({ type: 'supergroup', title: 'G', members: [111] })
    const shown = await codeOf(house)
    telegram.world.say({ from: 111, chat, text: shown })
    // Words with as many letters as a code are none.
    expect(await say(555, 'hello world')).toContain('Nobody owns this bot yet')
    const code = await codeOf(house)
    expect(code).not.toBe(shown)
    for (const wrong of ['00000-00000', 'Claim 00000 00000', '0000000000', 'claim abcde-fghjk', '11111-11111'])
      expect(await say(444, wrong)).toContain('not right')
    expect(await say(444, code)).toContain('too many wrong codes')
    expect(await codeOf(house)).toBe(code)
    expect(await say(111, ` CLAIM: ${code.toUpperCase().replace('-', ' ')} `)).toContain('You are my owner now')
    expect(await daemon.operator.people.list()).toMatchObject({
      people: [{ name: 'owner', ids: [{ id: 'telegram:111', from: 'claim' }] }],
    })
    expect(await say(111, code)).toBe(`echo ${code}`)
  })

  it('is not given for a wrong code', async () => {
    const house = await startHousehold(nobody)
    house.telegram.world.say({ from: 444, text: '/start abcdef' })
    expect((await house.telegram.ledger.nextFromBot('sent')).text).toContain('not right')
    expect((await house.daemon.operator.status()).ownerKnown).toBe(false)
  })

  it('is not given to whoever sends wrong codes one after the other, for an hour', async () => {
    const clock = setClock(new Date().toISOString())
    const house = await startHousehold({ ...nobody, clock })
    const { telegram } = house
    const code = await codeOf(house)
    const say = async (from: number, text: string): Promise<string> => {
      const after = telegram.ledger.mark()
      telegram.world.say({ from, text })
      return (await telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === from })).text
    }
    for (let tries = 0; tries < 5; tries++) expect(await say(444, '/claim 00000-00000')).toContain('not right')
    expect(await say(444, `/claim ${code}`)).toContain('too many wrong codes')
    clock.skip(3_600_000)
    expect(await say(444, `/claim ${code}`)).toContain('You are my owner now')
  })

  it('says before there is an owner which id somebody has, and how they become it, and afterwards to nobody unknown', async () => {
    const house = await startHousehold(nobody)
    const { telegram } = house
    const say = async (from: number, text: string): Promise<string> => {
      const after = telegram.ledger.mark()
      telegram.world.say({ from, text })
      return (await telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === from })).text
    }
    const told = await say(111, '/whoami')
    expect(told).toContain('You are telegram:111; your role is guest.')
    expect(told).toContain('send me /claim <code> here')
    expect(told).toContain('people: { me: { role: owner, ids: ["telegram:111"] } }')
    await say(111, `/claim ${await codeOf(house)}`)
    expect(await say(111, '/whoami')).not.toContain('/claim')
    expect(await say(111, '/help')).not.toContain('/claim')
    expect(await say(444, '/whoami')).toContain('I only talk to people my owner has let in.')
  })

  it('F-H14: with an owner by a claim, a reload that takes the configured one out opens no claim link', async () => {
    const file = { routing: policy() }
    const house = await startHousehold({
      ...nobody,
      reload: async () => ({ routing: file.routing, warnings: [], down: [] }) as unknown as Config,
    })
    house.telegram.world.say({ from: 111, text: `/start ${await codeOf(house)}` })
    await house.telegram.ledger.nextFromBot('sent')
    file.routing = policy({ people: [owner('bob', 'telegram:444')] })
    expect((await house.daemon.operator.config.reload()).narrower).toEqual([])
    file.routing = policy()
    expect((await house.daemon.operator.config.reload()).wider).toEqual([])
    expect((await house.daemon.operator.status()).claims).toEqual([])
  })

  it('cannot be claimed a second time', async () => {
    const house = await startHousehold(nobody)
    const { telegram } = house
    const code = await codeOf(house)
    telegram.world.say({ from: 111, text: `/start ${code}` })
    await telegram.ledger.nextFromBot('sent')
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: 444, text: `/start ${code}` })
    expect((await telegram.ledger.nextFromBot('sent', { after: mark })).text).toContain('already has an owner')
  })

  it('cannot be claimed in a group, where others read the code', async () => {
    const house = await startHousehold(nobody)
    const { telegram, daemon } = house
    const { id } = telegram.world.addChat({ type: 'supergroup', title: 'G', members: [111] })
    telegram.world.say({ from: 111, chat: id, text: `/start@parley_bot ${await codeOf(house)}` })
    telegram.world.say({ from: 444, text: 'hello' })
    await telegram.ledger.nextFromBot('sent')
    expect((await daemon.operator.status()).ownerKnown).toBe(false)
  })

  it('while nobody has it, a stranger gets one line that says how to claim, once', async () => {
    const house = await startHousehold(nobody)
    const { telegram } = house
    telegram.world.say({ from: 444, text: 'hello' })
    telegram.world.say({ from: 444, text: 'hello?' })
    expect((await telegram.ledger.nextFromBot('sent')).text).toContain('send me /claim <code> here')
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: 555, text: 'me too' })
    await telegram.ledger.nextFromBot('sent', { after: mark })
    expect(telegram.world.messages(444, { by: 'bot' })).toHaveLength(1)
  })
})
