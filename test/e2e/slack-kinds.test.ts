import { describe, expect, it } from 'vitest'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import type { SlackServerOptions } from '../../src/rehearsal/slack/server.ts'
import { type SlackHousehold, startSlackHousehold } from './slack-household.ts'

const BOT = '<@U0BOT>'
const hear: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)
const listed = { match: {}, who: 'public', trigger: 'mention', bots: 'mentioned', botIds: ['slack:T01/B77'] } as const
const access: RoutingPolicy['access'] = { direct: 'allowlist', groups: [listed] }

async function workshop(options: { routing?: Partial<RoutingPolicy>; slack?: SlackServerOptions } = {}) {
  const house = await startSlackHousehold({ script: hear, routing: { access }, ...options })
  const { id } = house.slack.world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  return Object.assign(house, { channel: id })
}

const answerTo = ({ slack }: SlackHousehold, words: string) =>
  slack.ledger.next((entry) => entry.kind === 'message' && entry.byBot && entry.text.includes(words))

/** Returns the last thing that the model was shown with these words, and its system prompt. */
function prompt({ anthropic }: SlackHousehold, words: string): { readonly said: string; readonly system: string } {
  const request = anthropic.ledger.requests().find((asked) => lastUserText(asked).includes(words))
  return { said: request === undefined ? '' : lastUserText(request), system: JSON.stringify(request?.system) }
}

/** An alert as monitoring apps post it: nothing of it is in its text. */
const alert = (state: string) => ({
  attachments: [
    {
      ...{
        color: 'danger',
        fallback: '[no preview available]',
        title: `Disk ${state}`,
        title_link: 'https://g.example/1',
      },
      fields: [{ title: 'host', value: 'web-1', short: true }],
    },
  ],
})
const ci = { user: undefined, bot_id: 'B77', subtype: 'bot_message', username: 'Grafana' }

describe('what other apps say on Slack', () => {
  it('a question in the thread of an alert is asked with the words of the alert as they are by then', async () => {
    const house = await workshop()
    const { world, ledger } = house.slack
    const { channel } = house
    const root = world.say({ from: 'U444', channel, text: '', extra: { ...ci, ...alert('firing') } })
    await ledger.confirmed(root.ts)
    world.change({ channel, message: root, fields: alert('resolved') })
    world.say({ from: 'U444', channel, thread: root, text: `${BOT} what is firing?` })
    await answerTo(house, 'what is firing?')
    const { said } = prompt(house, 'what is firing?')
    expect(said).toContain('[app: Grafana]')
    expect(said).toContain('Disk resolved (https://g.example/1)')
    expect(said).toContain('host: web-1')
    expect(said).not.toContain('Disk firing')
  })

  it('a reminder of Slackbot is a word of the app, and no command', async () => {
    const slackbot = { ...listed, botIds: ['slack:T01/USLACKBOT'] }
    const house = await workshop({ routing: { access: { direct: 'allowlist', groups: [slackbot] } } })
    const { world, ledger } = house.slack
    const { channel } = house
    const root = world.say({ from: 'U444', channel, text: `${BOT} good morning` })
    await answerTo(house, 'good morning')
    const said = world.say({ from: 'USLACKBOT', channel, thread: root, text: '!new Reminder: pay the rent.' })
    await ledger.confirmed(said.ts)
    world.say({ from: 'U444', channel, thread: root, text: `${BOT} what did it say?` })
    await answerTo(house, 'what did it say?')
    expect(prompt(house, 'what did it say?').said).toContain('[app: Slackbot] [not directed at you] !new Reminder')
  })

  it('a command that a person sends through an app with their own token is obeyed', async () => {
    const house = await workshop()
    const extra = { bot_id: 'B99', app_id: 'A99' }
    house.slack.world.say({ from: 'U333', channel: house.channel, text: `${BOT} !whoami`, extra })
    expect(await house.slack.ledger.next((entry) => entry.kind === 'whisper')).toMatchObject({
      userId: 'U333',
      text: expect.stringContaining('your role is owner'),
    })
  })
})

describe('names on Slack', () => {
  it('the model reads whom a message names, where it is, and what a link leads to, and nobody of a preview', async () => {
    const house = await workshop()
    const { world, ledger } = house.slack
    const { channel } = house
    const text = `${BOT} ask <@U555> about ~tea~ <https://x.example|this>`
    const preview = { from_url: 'https://x.example', title: 'A page', text: 'of <@U444>' }
    const said = world.say({ from: 'U444', channel, text, extra: { attachments: [preview] } })
    await answerTo(house, 'A page')
    const shown = prompt(house, 'about')
    expect(shown.said).toContain('[Bob] [mentions: "Cy" (cy)] @parley ask @Cy about ~~tea~~ this (https://x.example)')
    expect(shown.said).toContain('[attached preview of https://x.example: A page. of @Bob]')
    expect(shown.system).toContain('workshop')
    // The preview of another link comes: nothing was edited.
    const after = ledger.mark()
    world.change({
      channel,
      message: said,
      fields: { attachments: [preview, { ...preview, from_url: 'https://y.example' }] },
    })
    world.say({ from: 'U444', channel, thread: said, text: `${BOT} and now?` })
    await ledger.nextFromBot('sent', { after })
    expect(prompt(house, 'and now?').said).not.toContain('edited')
  })

  it('a message in a direct chat of a kind that does not exist yet is answered, not passed over', async () => {
    const house = await workshop()
    const { world } = house.slack
    const blocks = [{ type: 'canvas', canvas_id: 'F1' }]
    world.say({ from: 'U333', text: '', extra: { blocks } })
    await answerTo(house, 'cannot be shown here')
    expect(prompt(house, 'cannot be shown').said).toContain('[attached a part that cannot be shown here: canvas]')
  })
})

describe('places on Slack that change', () => {
  it('a channel that gets a new id keeps its threads', async () => {
    const house = await workshop()
    const { world } = house.slack
    const root = world.say({ from: 'U444', channel: house.channel, text: `${BOT} the boiler leaks` })
    await answerTo(house, 'the boiler leaks')
    world.changeId(house.channel, 'C0SHARED')
    world.say({ from: 'U444', channel: 'C0SHARED', thread: root, text: `${BOT} and now?` })
    expect(await answerTo(house, 'and now?')).toMatchObject({ channel: 'C0SHARED', thread: root.ts })
    const request = house.anthropic.ledger.requests().find((asked) => lastUserText(asked).includes('and now?'))
    expect(JSON.stringify(request?.messages)).toContain('the boiler leaks')
  })

  it('F-H04: an owner is known in another workspace of the organisation, and nobody else is', async () => {
    const house = await workshop({ slack: { app: { enterprise: 'E01' } } })
    const { world } = house.slack
    const whois = async (from: string) => {
      const said = world.say({ from, channel: house.channel, text: `${BOT} who is ${from}?` })
      await answerTo(house, `who is ${from}?`)
      const [why] = await house.daemon.operator.why(said.ts)
      return why?.steps.find(({ stage }) => stage === 'identity')?.because
    }
    world.addUser({ id: 'U333', name: 'ada', team: 'T02', enterprise: { id: 'E01', teams: ['T01', 'T02'] } })
    expect(await whois('U333')).toContain('owner ada')
    world.addUser({ id: 'U444', name: 'bob', team: 'T03', enterprise: { id: 'E02', teams: ['T03'] } })
    expect(await whois('U444')).toBe('guest by slack:U444')
  })
})
