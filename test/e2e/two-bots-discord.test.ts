import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { DiscordServer } from '../../src/rehearsal/discord/server.ts'
import { holding } from './forgetting-house.ts'
import { PARLEY, SAGE, twoBotsOnDiscord as twoBots } from './two-bots-on-discord.ts'

const CANARY = 'canaryboth'

const sentBy = ({ ledger }: DiscordServer): readonly string[] =>
  ledger.entries.flatMap((one) => (one.kind === 'message' && one.byBot && one.change === 'sent' ? [one.text] : []))

it.each(['channel', 'thread'] as const)(
  'F-D11: each of two bots in one %s answers once whoever addresses it, and never the other',
  async (where) => {
    const { servers, ask, aside, prompt, ...places } = await twoBots()
    const at = { where: places[where].id }
    await aside('beside', at)
    expect((await ask('parley', `<@${PARLEY}> hello`, at)).answer).toContain('hello')
    expect((await ask('sage', `<@${SAGE}> good day`, at)).answer).toContain('good day')
    expect(prompt()).toContain('[app: ')
    const after = servers.sage.ledger.mark()
    await ask('parley', `<@${PARLEY}> and <@${SAGE}>`, at)
    await servers.sage.ledger.next((one) => one.kind === 'message' && one.byBot, { after })
    await ask('sage', `<@${SAGE}> last`, at)
    expect([sentBy(servers.parley).length, sentBy(servers.sage).length]).toEqual([2, 3])
  },
)

it.each(['channel', 'thread'] as const)(
  'S41, T27: what one of two bots in one %s is asked to forget by its slash command goes from both',
  async (where) => {
    const { house, servers, ask, ...places } = await twoBots()
    const at = { where: places[where].id }
    await ask('parley', `<@${PARLEY}> hello`, at)
    await ask('sage', `<@${SAGE}> hello`, at)
    await ask('parley', `<@${PARLEY}> my code is ${CANARY}`, at)
    const { ledger, world } = servers.sage
    const after = ledger.mark()
    world.slash({ from: '222', channel: at.where, command: 'forget', input: 'last' })
    expect((await ledger.nextWhisper('edited', { after })).text).toMatch(/^Forgotten: .* received messages/)
    expect(holding(house.dataDir, CANARY)).toEqual([])
  },
)

it.each(['in time', 'late'])(
  'S41: an answer goes from the other bot too, where that may hear the first, if it has received it %s',
  async (when) => {
    const script: Script = (request) =>
      textReply(lastUserText(request).endsWith('where is the key?') ? `in ${CANARY}` : 'fine')
    const bots = { bots: 'allow', botIds: [`discord:${PARLEY}`] } as const
    const { house, servers, channel, ask, prompt } = await twoBots({ script, bots })
    await ask('sage', `<@${SAGE}> hello`)
    const isTold = when === 'in time'
    const { tell } = await ask('parley', `<@${PARLEY}> where is the key?`, { isTold })
    await ask('sage', `<@${SAGE}> well?`, { from: '444' })
    expect(prompt().includes(CANARY)).toBe(isTold)
    const { ledger, world } = servers.parley
    const after = ledger.mark()
    world.slash({ from: '222', channel: channel.id, command: 'forget', input: 'last' })
    expect((await ledger.nextWhisper('edited', { after })).text).toMatch(/^Forgotten: .* received messages/)
    if (!isTold) tell()
    await ask('sage', `<@${SAGE}> and now?`)
    expect(prompt()).not.toContain(CANARY)
    expect(holding(house.dataDir, CANARY)).toEqual([])
  },
)
