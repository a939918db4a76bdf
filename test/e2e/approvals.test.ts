import { describe, expect, it } from 'vitest'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { codeOf, GROUP, askingHousehold as household, leftOpen } from './asking-household.ts'
import { setClock } from './set-clock.ts'

describe('a call that needs the yes of a person', () => {
  it('S7: waits for it, and the session says so; then it is made once', async () => {
    const { say, heard, paid, ledger, daemon } = await household()
    const card = await say(111, 'pay cy', 'May I use')
    expect(card).toContain('"to": "cy"')
    expect(paid).toEqual([])
    expect(await daemon.operator.sessions.list({ limit: 10, offset: 0, inactive: false })).toMatchObject({
      sessions: [{ status: 'awaiting_approval' }],
    })
    const after = ledger.mark()
    await say(111, `/approve ${codeOf(card)}`, 'Allowed')
    await heard(111, 'it says: paid', after)
    expect(paid).toEqual(['cy'])
    expect(await say(111, `/approve ${codeOf(card)}`, 'It has begun')).toContain('pay')
    await say(111, `/deny ${codeOf(card)}`, 'is over')
    expect(paid).toEqual(['cy'])
  })

  it('S7: is not made when it is refused, and the model learns by whom', async () => {
    const { say, heard, paid, ledger } = await household()
    const card = await say(111, 'pay cy', 'May I use')
    const after = ledger.mark()
    await say(111, `/deny ${codeOf(card)}`, 'Refused')
    expect((await heard(111, 'it says:', after)).text).toContain('ada has refused this call')
    expect(paid).toEqual([])
  })

  it('S8: continues without it after two minutes, and makes the call once if it is allowed within ten', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const home = await household({ clock })
    const { say, heard, paid, ledger } = home
    const card = await leftOpen(home, clock)
    expect(await say(111, '/approvals', 'pay')).toContain(codeOf(card))
    const late = ledger.mark()
    await say(111, `/approve ${codeOf(card)}`, 'I do it now')
    await heard(111, 'it says: paid', late)
    expect(paid).toEqual(['cy'])
  })

  it('S8: is made once if it is allowed after a restart, when its turn has continued without it', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const home = await household({ clock })
    const card = await leftOpen(home, clock)
    await home.restart()
    const late = home.ledger.mark()
    await home.say(111, `/approve ${codeOf(card)}`, 'I do it now')
    await home.heard(111, 'it says: paid', late)
    await home.restart()
    await home.say(111, 'hello again', 'fine')
    expect(home.paid).toEqual(['cy'])
  })

  it('T32: is not made once whoever has allowed it is no owner any more', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const gate = createGate()
    const home = await household({ clock, gate })
    const card = await leftOpen(home, clock)
    // What was allowed late waits behind this.
    home.world.say({ from: 111, text: 'work slowly' })
    await gate.reached
    await home.say(111, `/approve ${codeOf(card)}`, 'I do it now')
    const draining = clock.timerOf(16_000, 900)
    const people = [owner('eve', 'telegram:999'), member('ada', 'telegram:111')]
    const restarted = home.restart({ routing: policy({ people }) })
    await draining
    clock.skip(16_000)
    await restarted
    gate.release()
    await expect
      .poll(() => home.log.lines.filter(({ sentence }) => sentence === 'A tool call was denied'), { timeout: 8_000 })
      .toHaveLength(1)
    expect(home.paid).toEqual([])
  })

  it('T32: is not made where a rule forbids it by the time it was allowed', async () => {
    const home = await household()
    const card = await home.say(111, 'pay cy', 'May I use')
    await home.restart({ toolPolicy: [{ tools: ['pay'], who: ['everybody'], action: 'deny' }] })
    await home.heard(111, 'the policy does not let pay be used here')
    const late = home.ledger.mark()
    await home.say(111, `/approve ${codeOf(card)}`, 'I do it now')
    await home.heard(111, 'the policy does not let pay be used here', late)
    expect(home.paid).toEqual([])
  })

  it('S7: is listed for the operator, who may answer it as well', async () => {
    const { say, heard, paid, ledger, daemon } = await household()
    const code = codeOf(await say(111, 'pay cy', 'May I use'))
    const { approvals } = daemon.operator
    expect(await approvals.list()).toMatchObject([
      { code, tool: 'pay', args: '{"to":"cy"}', session: 'telegram:direct:111' },
    ])
    const after = ledger.mark()
    expect(await approvals.decide(code, 'approve')).toMatchObject({ decidedBy: 'operator' })
    await heard(111, 'it says: paid', after)
    expect(paid).toEqual(['cy'])
    expect(await approvals.list()).toEqual([])
    await expect(approvals.decide(code, 'deny')).rejects.toMatchObject({ code: 'conflict' })
  })

  it('S7: stands in why, with the answer', async () => {
    const { say, heard, ledger, daemon, log } = await household()
    const card = await say(111, 'pay cy', 'May I use')
    const after = ledger.mark()
    await say(111, `/approve ${codeOf(card)}`, 'Allowed')
    await heard(111, 'it says: paid', after)
    const { fields } = await log.line('Somebody is asked whether a tool may be used')
    const [report] = await daemon.operator.why(String(fields.traceId))
    expect(report?.questions).toEqual([`pay (${codeOf(card)}): allowed by ada`])
    expect(await say(111, '/why trace', 'asked an owner')).toContain(codeOf(card))
  })

  it('T32: holds for a session tool as well, where a rule says so', async () => {
    const { say, ledger, heard } = await household({
      rules: [{ tools: ['sessions_send'], who: ['everybody'], action: 'ask' }],
    })
    const card = await say(111, 'write to bob', 'May I use')
    expect(card).toContain('telegram:direct:444')
    const after = ledger.mark()
    await say(111, `/deny ${codeOf(card)}`, 'Refused')
    expect((await heard(111, 'it says:', after)).text).toContain('has refused this call')
  })

  it('S8: is over ten minutes after it was asked', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const home = await household({ clock })
    const { say, paid } = home
    const card = await leftOpen(home, clock)
    clock.skip(500_000)
    await say(111, `/approve ${codeOf(card)}`, 'is over')
    expect(paid).toEqual([])
  })

  it('F-I02: names the group as code, so that no title reads like words of the card', async () => {
    const { world, ledger, heard } = await household()
    const title = 'Family"? Ada has *agreed* to it <b>already</b>, just press'
    const chat = world.addChat({ type: 'supergroup', title, id: -1001000000088, members: [111, 444] })
    const after = ledger.mark()
    world.say({ from: 444, chat, text: '@parley_bot pay cy' })
    await heard(111, 'May I use', after)
    const sent = world.messages(111, { by: 'bot' }).at(-1)?.message
    const marked = (sent?.entities ?? []).filter(({ type }) => type === 'code')
    const named = marked.map(({ offset, length }) => sent?.text?.slice(offset, offset + length))
    expect(named).toContain(title)
  })

  it('S20, F-H07: is asked of the owner in private where somebody else speaks, and nobody else can answer', async () => {
    const { world, say, heard, paid, ledger, log } = await household()
    const after = ledger.mark()
    world.say({ from: 444, chat: GROUP, text: '@parley_bot pay cy' })
    await heard(GROUP, 'I have asked my owner whether I may use', after)
    const card = (await heard(111, 'May I use', after)).text
    expect(card).toContain('words of bob')
    expect(card).toContain('in Family?')
    const decided = log.lines.filter(({ sentence }) => sentence === 'A message was decided').length
    world.say({ from: 444, chat: GROUP, text: `/approve@parley_bot ${codeOf(card)}` })
    await log.line('A message was decided', { nth: decided + 1 })
    await say(444, 'hello', 'fine')
    expect(paid).toEqual([])
    const then = ledger.mark()
    await say(111, `/approve ${codeOf(card)}`, 'Allowed')
    await heard(GROUP, 'it says: paid', then)
    expect(paid).toEqual(['cy'])
  })

  it('F-H07: is not asked for strangers, who would flood the owner and hold up the group', async () => {
    const { say, paid, ledger } = await household()
    expect(await say(555, '@parley_bot pay cy', 'it says:', GROUP)).toContain('only for people they know')
    expect(await say(555, 'pay cy', 'it says:')).toContain('only for people they know')
    expect(ledger.all((entry) => entry.kind === 'message' && entry.text.includes('May I use'))).toEqual([])
    expect(paid).toEqual([])
  })

  it('F-H07: is over when its conversation begins anew', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const home = await household({ clock })
    const { say, paid } = home
    const card = await leftOpen(home, clock)
    await say(111, '/new', 'fresh')
    await say(111, `/approve ${codeOf(card)}`, 'is over')
    expect(paid).toEqual([])
  })

  it('F-H07: survives a restart while it waits, and is then made once', async () => {
    const home = await household()
    const card = await home.say(111, 'pay cy', 'May I use')
    await home.restart()
    const after = home.ledger.mark()
    await home.say(111, `/approve ${codeOf(card)}`, 'Allowed')
    await home.heard(111, 'it says: paid', after)
    expect(home.paid).toEqual(['cy'])
    const cards = home.ledger.all(
      (entry) => entry.kind === 'message' && entry.change === 'sent' && entry.text.includes('May I use'),
    )
    expect(cards).toHaveLength(1)
  })

  it('F-H07: is over when its turn is stopped', async () => {
    const { say, paid } = await household()
    const card = await say(111, 'pay cy', 'May I use')
    await say(111, '/stop', 'Stopped')
    await say(111, `/approve ${codeOf(card)}`, 'is over')
    expect(paid).toEqual([])
  })

  it('S47: is refused at once in the run of a schedule', async () => {
    const { daemon, heard, paid, ledger } = await household()
    const after = ledger.mark()
    await daemon.operator.schedules.run('rent')
    expect((await heard(111, 'it says:', after)).text).toContain('nobody is there in a run without people')
    expect(paid).toEqual([])
  })

  it('S47: is made there where a standing rule allows it', async () => {
    const { daemon, heard, paid, ledger } = await household({
      rules: [{ tools: ['pay'], who: ['owner'], in: ['cron:rent'], action: 'allow' }],
    })
    const after = ledger.mark()
    await daemon.operator.schedules.run('rent')
    await heard(111, 'it says: paid', after)
    expect(paid).toEqual(['landlord'])
  })

  it('T32: a rule for the owner does not hold where somebody else has spoken, nor for a page', async () => {
    const { say, paid } = await household({ rules: [{ tools: ['p*'], who: ['owner'], action: 'allow' }] })
    expect(await say(111, 'pay cy', 'it says:')).toBe('it says: paid')
    expect(await say(444, '@parley_bot hello', 'fine', GROUP)).toContain('fine')
    expect(await say(111, '@parley_bot pay bob', 'May I use', GROUP)).toContain('words of bob')
    expect(paid).toEqual(['cy'])
  })

  it('T32: a rule that denies is not asked about', async () => {
    const { say, paid } = await household({ rules: [{ tools: ['pay'], who: ['everybody'], action: 'deny' }] })
    expect(await say(111, 'pay cy', 'it says:')).toContain('the policy does not let pay be used here')
    expect(paid).toEqual([])
  })

  it('F-H07: questions that were stopped keep nobody from asking: a member cannot close the way to the owner', async () => {
    const { say, world, ledger, heard } = await household()
    for (const to of ['one', 'two', 'three']) {
      const after = ledger.mark()
      world.say({ from: 444, chat: GROUP, text: `@parley_bot pay ${to}` })
      await heard(111, 'May I use', after)
      await say(444, '/stop@parley_bot', 'topped', GROUP)
    }
    expect(await say(111, '@parley_bot pay four', 'May I use', GROUP)).toContain('four')
  })

  it('F-H07: is refused at once where no owner has written in private yet', async () => {
    const { say } = await household({ met: false })
    expect(await say(444, 'pay cy', 'it says:')).toContain('who has not written to me in private yet')
  })

  it('F-H07: is not asked about where it is too long to be shown in full', async () => {
    const { say, paid } = await household()
    expect(await say(111, 'pay abcdefgh x800', 'it says:')).toContain('too long to be shown to a person')
    expect(paid).toEqual([])
  })

  it('F-H07: three questions are open in a session at most', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const home = await household({ clock })
    for (const to of ['one', 'two', 'three']) await leftOpen(home, clock, { text: `pay ${to}` })
    expect(await home.say(111, 'pay four', 'it says:')).toContain('are open here already')
  })

  it('F-H07: those of a member keep the owner from nothing', async () => {
    const clock = setClock('2026-11-23T10:00:00Z')
    const home = await household({ clock })
    const { say } = home
    for (const to of ['one', 'two', 'three'])
      await leftOpen(home, clock, { from: 444, chat: GROUP, text: `@parley_bot pay ${to}` })
    expect(await say(444, '@parley_bot pay four', 'it says:', GROUP)).toContain('are open here already')
    expect(await say(111, '@parley_bot pay five', 'May I use', GROUP)).toContain('five')
  })
})
