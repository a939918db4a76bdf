import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Identity } from '../../../src/core/dispatch.ts'
import { armFailpoints } from '../../../src/core/failpoint.ts'
import { createIdSource, type PersonId, toPersonId } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { OutboundMessage } from '../../../src/core/outbound.ts'
import { personBehind } from '../../../src/routing/identify.ts'
import { createAccess } from '../../../src/sessions/people/access.ts'
import { hashCode } from '../../../src/sessions/people/link-code.ts'
import { type Asker, createLinks } from '../../../src/sessions/people/links.ts'
import { operatePeople } from '../../../src/sessions/people/operate-people.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { movedClock } from '../../agent/moved-clock.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { direct } from '../../fakes/dispatch.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { member, owner, policy, routingOf } from '../../fakes/routing-policy.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

const [ADA, BOB] = [toPersonId('ada'), toPersonId('bob')]
const HERE = person('telegram:111')
const THERE = person('discord:222')
const MINUTE = 60_000

function person(platformId: string): Asker {
  const [channel = '', chat = ''] = platformId.split(':')
  return { platformId, address: direct(chat, { channel: channel as 'telegram' }) }
}

/** Ada owns the agent by the configuration, Bob is a member; a store, and what would have been said. */
async function house() {
  const clock = movedClock()
  const store = await openSqliteStore({
    path: readyDatabase(join(tempFolder(), 'parley.db')),
    clock,
    logger: silentLogger,
  })
  onTestFinished(() => store.close())
  const people = [owner('ada', 'telegram:111'), member('bob', 'telegram:444', 'slack:T01/U4')]
  const routing = routingOf(policy({ people }))
  const access = await createAccess({
    store,
    logger: silentLogger,
    clock,
    channels: CHANNELS,
    code: 'claim',
    configuredOwner: () => true,
    changed: () => {},
  })
  const ids = createIdSource({ now: clock.now, randomBytes })
  const said: OutboundMessage[] = []
  const whoIs = (platformId: string): Identity => personBehind(routing.people, access, platformId)
  const deps = {
    store,
    clock,
    ids,
    logger: silentLogger,
    randomBytes,
    whoIs,
    refresh: access.refresh,
    say: async (message: OutboundMessage, when: (tx: StoreWriter) => Promise<boolean>) => {
      if (await store.write(when)) said.push(message)
    },
  }
  const links = createLinks(deps)
  const operator = operatePeople({ store, channels: CHANNELS, people: () => people, daemon: { links, whoIs } })
  const redeem = (asker: Asker, code: string, inboxId = ids.inbox()): Promise<PersonId> =>
    links.redeem({ ...asker, inboxId, traceId: ids.trace() }, code)
  return { clock, store, access, links, ids, said, whoIs, redeem, operator, restarted: () => createLinks(deps) }
}

const NOT_VALID = { code: 'forbidden', message: expect.stringContaining('not valid') }

describe('a link code', () => {
  it('F-E05: works for ten minutes at most, also when the clock is set back', async () => {
    const { clock, links, redeem } = await house()
    const code = await links.offer(HERE, ADA)
    clock.setBy(-60 * MINUTE)
    clock.advance(9 * MINUTE)
    expect(links.validCodes()).toHaveLength(1)
    clock.advance(MINUTE)
    expect(links.validCodes()).toEqual([])
    await expect(redeem(THERE, code)).rejects.toMatchObject(NOT_VALID)
  })

  it('joins the id that types it to the person who asked for it, with the role the person has', async () => {
    const { links, redeem, whoIs, said, store } = await house()
    expect(whoIs('discord:222')).toEqual({ role: 'guest' })
    expect(await redeem(THERE, await links.offer(HERE, ADA))).toBe(ADA)
    expect(whoIs('discord:222')).toEqual({ person: ADA, role: 'owner' })
    expect(said).toMatchObject([{ address: HERE.address, text: expect.stringContaining('/unlink discord:222') }])
    expect(await store.read.people.changes(9)).toMatchObject([
      { kind: 'linked', person: ADA, platformId: 'discord:222', by: 'telegram:111' },
    ])
  })

  it('is kept as a hash, and read however it is typed', async () => {
    const { links, redeem, store } = await house()
    const code = await links.offer(HERE, ADA)
    expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/)
    expect(JSON.stringify(await store.read.people.linkCode(hashCode(code)))).not.toContain(code)
    const typed = ` ${code.toUpperCase().replace('-', ' ').replace(/0/g, 'O').replace(/1/g, 'l')} `
    expect(await redeem(THERE, typed)).toBe(ADA)
  })

  it('F-H12: used twice it is refused, by the same person and by others', async () => {
    const { links, redeem, whoIs } = await house()
    const code = await links.offer(HERE, ADA)
    await redeem(THERE, code)
    await expect(redeem(person('discord:666'), code)).rejects.toMatchObject(NOT_VALID)
    await expect(redeem(THERE, code)).rejects.toMatchObject(NOT_VALID)
    expect(whoIs('discord:666')).toEqual({ role: 'guest' })
  })

  it('F-H12: after ten minutes it is refused', async () => {
    const { links, redeem, clock } = await house()
    const code = await links.offer(HERE, ADA)
    clock.advance(10 * MINUTE)
    await expect(redeem(THERE, code)).rejects.toMatchObject(NOT_VALID)
    const next = await links.offer(HERE, ADA)
    clock.advance(10 * MINUTE - 1)
    expect(await redeem(THERE, next)).toBe(ADA)
  })

  it('F-H12: typed by somebody I know as another person it is refused, and spent', async () => {
    const { links, redeem, whoIs } = await house()
    const code = await links.offer(HERE, ADA)
    await expect(redeem(person('slack:t01/u4'), code)).rejects.toMatchObject({ code: 'conflict' })
    expect(whoIs('slack:t01/u4')).toEqual({ person: BOB, role: 'member' })
    await expect(redeem(THERE, code)).rejects.toMatchObject(NOT_VALID)
  })

  it('F-H12: typed by another account of the same platform it is refused, and spent', async () => {
    const { links, redeem, whoIs } = await house()
    const code = await links.offer(HERE, ADA)
    await expect(redeem(person('telegram:666'), code)).rejects.toMatchObject({ code: 'forbidden' })
    expect(whoIs('telegram:666')).toEqual({ role: 'guest' })
    await expect(redeem(THERE, code)).rejects.toMatchObject(NOT_VALID)
  })

  it('typed by its own maker it stays good', async () => {
    const { links, redeem } = await house()
    const code = await links.offer(HERE, ADA)
    await expect(redeem(HERE, code)).rejects.toMatchObject({ code: 'conflict' })
    expect(await redeem(THERE, code)).toBe(ADA)
  })

  it('F-H12: read by others it is worth nothing, and a newer one ends an older', async () => {
    const { links, redeem } = await house()
    const seen = await links.offer(HERE, ADA)
    await links.spoil(seen)
    await expect(redeem(THERE, seen)).rejects.toMatchObject(NOT_VALID)
    const older = await links.offer(HERE, ADA)
    await links.offer(HERE, ADA)
    await expect(redeem(THERE, older)).rejects.toMatchObject(NOT_VALID)
    await expect(redeem(THERE, 'never-made')).rejects.toMatchObject(NOT_VALID)
  })

  it('F-H12: spoiled it is told to who asked for it, where it was made', async () => {
    const { links, said } = await house()
    await links.spoil(await links.offer(HERE, ADA))
    await links.spoil('never-made')
    expect(said).toMatchObject([{ address: HERE.address, text: expect.stringContaining('Send me `/link`') }])
  })

  it('of an earlier process it is refused: nobody can tell whether it was shown', async () => {
    const { links, restarted, ids } = await house()
    const code = await links.offer(HERE, ADA)
    const again = { ...THERE, inboxId: ids.inbox(), traceId: ids.trace() }
    await expect(restarted().redeem(again, code)).rejects.toMatchObject(NOT_VALID)
  })

  it('F-H13: of an id that was parted meanwhile it is worth nothing', async () => {
    const { links, redeem } = await house()
    await redeem(THERE, await links.offer(HERE, ADA))
    const code = await links.offer(THERE, ADA)
    await links.unlink('discord:222', 'telegram:111')
    await expect(redeem(person('slack:t01/u9'), code)).rejects.toMatchObject(NOT_VALID)
  })

  it('F-H12: a crash behind the commit leaves a whole link, and the command says so when it runs again', async () => {
    const { links, redeem, ids, store, access, said } = await house()
    const code = await links.offer(HERE, ADA)
    const command = ids.inbox()
    armFailpoints((point) => {
      if (point === 'CP19-ids-linked') throw new Error('killed')
    })
    onTestFinished(() => armFailpoints(() => {}))
    await expect(redeem(THERE, code, command)).rejects.toThrow('killed')
    await access.refresh()
    expect(await redeem(THERE, code, command)).toBe(ADA)
    expect(await store.read.people.all()).toEqual([{ id: ADA, role: 'guest', ids: ['discord:222'] }])
    expect(await store.read.people.changes(9)).toHaveLength(1)
    expect(said).toHaveLength(1)
  })
})

describe('parting', () => {
  it('F-H13: an id that was parted and joined to another has the authority of the other at once', async () => {
    const { links, redeem, whoIs, store } = await house()
    await redeem(THERE, await links.offer(HERE, ADA))
    expect(await links.unlink('discord:222', 'telegram:111', 'in_1')).toBe(ADA)
    expect([await links.hasUnlinked('in_1'), await links.hasUnlinked('in_2')], 'after a crash').toEqual([true, false])
    expect(whoIs('discord:222')).toEqual({ role: 'guest' })
    await redeem(THERE, await links.offer(person('telegram:444'), BOB))
    expect(whoIs('discord:222')).toEqual({ person: BOB, role: 'member' })
    const changes = await store.read.people.changes(9)
    expect(changes.map(({ kind, person: who }) => `${kind} ${who}`)).toEqual([
      'linked bob',
      'unlinked ada',
      'linked ada',
    ])
  })

  it('what nobody linked is not found, the configuration included', async () => {
    const { links } = await house()
    await expect(links.unlink('discord:9', 'operator')).rejects.toMatchObject({ code: 'not_found' })
    await expect(links.unlink('telegram:111', 'operator')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('a person who leaves the configuration takes the authority of linked ids along', async () => {
    const { links, redeem, access } = await house()
    await redeem(THERE, await links.offer(HERE, ADA))
    const without = routingOf(policy({ people: [] }))
    expect(personBehind(without.people, access, 'discord:222')).toEqual({ person: ADA, role: 'guest' })
  })
})

describe('the operator', () => {
  it('joins and parts ids without a code, and sees who did what', async () => {
    const { operator, whoIs } = await house()
    expect(await operator.link('ada', 'slack:T0K7/U3F9')).toEqual({ person: 'ada', id: 'slack:t0k7/u3f9' })
    expect(whoIs('slack:t0k7/u3f9')).toEqual({ person: ADA, role: 'owner' })
    expect(whoIs('slack:t0k8/u3f9'), 'F-H04: another team, another person').toEqual({ role: 'guest' })
    expect(await operator.list()).toMatchObject({
      people: [
        {
          name: 'ada',
          role: 'owner',
          ids: [
            { id: 'telegram:111', from: 'configuration' },
            { id: 'slack:t0k7/u3f9', from: 'link' },
          ],
        },
        { name: 'bob', role: 'member' },
      ],
      changes: [{ kind: 'linked', by: 'operator' }],
    })
    expect(await operator.unlink('slack:T0K7/U3F9')).toEqual({ person: 'ada', id: 'slack:t0k7/u3f9' })
  })

  it('is refused what makes no sense, with the remedy', async () => {
    const { operator } = await house()
    const refusals: [string, string, string][] = [
      ['ada', 'telegram:444', 'conflict'],
      ['carol', 'telegram:5', 'not_found'],
      ['ada', '5', 'invalid'],
      ['ada', 'slack:U333', 'invalid'],
      ['ada', 'telegram:', 'invalid'],
      ['ada', 'telegram:777000', 'invalid'],
      ['ada', 'telegram:0x1f', 'invalid'],
      ['ada', 'telegram:111111111', 'invalid'],
      ['ada', 'discord:123456789012345678', 'invalid'],
      ['ada', 'slack:T0K7/U012ABCDE', 'invalid'],
      ['ada', 'slack:T012ABCDE/U3F9', 'invalid'],
    ]
    for (const [name, id, code] of refusals) {
      await expect(operator.link(name, id), `${name} ${id}`).rejects.toMatchObject({ code })
    }
  })

  it('without a daemon only looks', async () => {
    const { store } = await house()
    const offline = operatePeople({ store, channels: CHANNELS, people: () => [owner('ada', 'telegram:111')] })
    expect((await offline.list()).people).toHaveLength(1)
    await expect(offline.link('ada', 'discord:1')).rejects.toMatchObject({ code: 'unavailable' })
    await expect(offline.unlink('discord:1')).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('names each person once to whoever joins an id to nobody', async () => {
    const { operator, store } = await house()
    await store.write((tx) => tx.people.join(ADA, 'telegram:444', 1))
    await expect(operator.link('cy', 'telegram:5')).rejects.toMatchObject({
      message: 'There is no person cy; there are: ada, bob.',
    })
  })

  it('sees a link that the configuration overrules', async () => {
    const { operator, store, access } = await house()
    await store.write((tx) => tx.people.join(ADA, 'telegram:444', 1))
    await access.refresh()
    const { people } = await operator.list()
    expect(people[0]?.ids).toContainEqual({ id: 'telegram:444', from: 'link', overruledBy: 'bob' })
  })
})
