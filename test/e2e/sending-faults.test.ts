import { describe, expect, it } from 'vitest'
import { lastUserText, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { startHousehold } from './household.ts'
import { setClock } from './set-clock.ts'

const ADA = 111
const BOB = 444

function toAda({ params }: { readonly params: Readonly<Record<string, unknown>> }): boolean {
  return String(params.chat_id) === String(ADA)
}

/** Answers are sent whole, however slow the machine is: what is shown before would be a send of its own. */
const WHOLE = { liveAfterMs: 60_000 }

describe('trouble while sending', () => {
  it('F-C03: a person who blocks the bot meanwhile is not tried again, not even after a restart', async () => {
    const gate = createGate()
    const house = await startHousehold({
      delivery: WHOLE,
      script: (_, turn) => textReply('an answer', turn === 0 ? { holds: [{ beforeDelta: 0, gate }] } : {}),
    })
    const { world, ledger } = house.telegram
    const message = world.say({ from: ADA, text: 'hello' })
    await gate.reached
    world.block(ADA)
    gate.release()
    await ledger.nextCall('sendMessage', { where: (call) => call.answer?.ok === false })
    const daemon = await house.restart()
    world.say({ from: BOB, text: 'and me?' })
    await ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === BOB })
    expect(ledger.calls('sendMessage').filter(toAda)).toHaveLength(1)
    const why = await daemon.operator.why(String(message.message_id))
    expect(why.find(({ address }) => address.endsWith(`:${ADA}`))).toMatchObject({
      deliveries: [{ state: 'rejected', reason: expect.stringMatching(/^403: .*blocked/) }],
    })
  })

  it('an answer that is refused for good is told to its session, to the next turn of its agent, and to the operator', async () => {
    const house = await startHousehold({ script: () => textReply('an answer'), delivery: WHOLE })
    const { world, ledger, faults } = house.telegram
    const description = 'Forbidden: bot was blocked by the user'
    const body = { ok: false, error_code: 403, description }
    const answer = { kind: 'answer', when: 'before', status: 403, body } as const
    const refused = faults.add({ method: 'sendMessage', where: toAda, action: answer })
    world.say({ from: ADA, text: 'hello' })
    await refused.reached
    // In its own conversation the next message waits until the first has ended.
    world.say({ from: ADA, text: 'are you there?' })
    await ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === ADA })
    world.say({ from: ADA, text: 'and now?' })
    const asked = await house.anthropic?.ledger.nextAccepted({ where: (one) => lastUserText(one).endsWith('and now?') })
    const note =
      /\[system note: your message to telegram:direct:111 did not arrive; it began with "an answer"; reason: 403: .*blocked.*\]/
    const texts = asked?.request.messages.map(({ content }) => JSON.stringify(content).replaceAll('\\', ''))
    expect(texts?.filter((text) => note.test(text))).toHaveLength(1)
    const { operator } = house.daemon
    const { undelivered } = await operator.status()
    expect(undelivered).toMatchObject([{ state: 'rejected', address: 'telegram:direct:111' }])
    const { sessions } = await operator.sessions.list({ limit: 5, offset: 0, inactive: false })
    const { events } = await operator.sessions.show(sessions[0]?.id ?? '')
    expect(events.filter(({ type }) => type === 'delivery_failed')).toHaveLength(1)
    const after = ledger.mark()
    await operator.outbox.retry(undelivered[0]?.id ?? '')
    await ledger.nextFromBot('sent', { after, where: ({ text }) => text === 'an answer' })
    world.say({ from: ADA, text: 'once more' })
    const later = await house.anthropic?.ledger.nextAccepted({
      where: (one) => lastUserText(one).endsWith('once more'),
    })
    const shown = JSON.stringify(later?.request.messages)
    expect(shown).toContain('your message to telegram:direct:111 that had not arrived was sent once more')
  })

  it('F-C04: told to wait, that chat waits and no other, and the answer comes once', async () => {
    const clock = setClock('2026-11-26T10:00:00Z')
    const house = await startHousehold({ clock })
    const { world, ledger, faults } = house.telegram
    const waits = clock.timerOf(600_000, 5_000)
    const description = 'Too Many Requests: retry after 600'
    const body = { ok: false, error_code: 429, description, parameters: { retry_after: 600 } }
    faults.add({
      method: 'sendMessage',
      where: toAda,
      action: { kind: 'answer', when: 'before', status: 429, body },
    })
    world.say({ from: ADA, text: 'hello' })
    await waits
    world.say({ from: BOB, text: 'and me?' })
    await ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === BOB })
    expect(ledger.calls('sendMessage').filter(toAda)).toHaveLength(1)
    clock.skip(600_000)
    await ledger.nextFromBot('sent', { where: ({ chatId }) => chatId === ADA })
    await house.daemon.stop()
    expect(world.messages(ADA, { by: 'bot' }).map(({ message }) => message.text)).toEqual(['echo hello'])
  })

  it('F-B06: an answer that cannot be read is not blindly repeated: one marked copy, and the operator sees it', async () => {
    const house = await startHousehold({ delivery: { ...WHOLE, uncertainAfterMs: 100 } })
    const { world, ledger, faults } = house.telegram
    const html = '<html>502 Bad Gateway</html>'
    const garbled = faults.add({
      method: 'sendMessage',
      action: { kind: 'answer', when: 'after', status: 502, body: html },
    })
    world.say({ from: ADA, text: 'hello' })
    await garbled.reached
    const repeat = await ledger.nextFromBot('sent', {
      where: ({ text }) => text.startsWith('(repeat)'),
    })
    expect(repeat.text).toBe('(repeat) echo hello')
    await house.restart()
    expect(world.messages(ADA, { by: 'bot' })).toHaveLength(2)
    const { uncertain } = await house.daemon.operator.status()
    expect(uncertain).toMatchObject([{ state: 'resent' }])
  })

  it.each([
    ['answered 502', { kind: 'answer', when: 'before', status: 502, body: '<html>502 Bad Gateway</html>' }],
    ['cut', { kind: 'reset', when: 'before' }],
    ['cut once they are done', { kind: 'reset', when: 'after' }],
  ] as const)(
    'F-B08: in an outage in which sends are %s while polls go on, no reply and no repeat is lost',
    async (_, action) => {
      const house = await startHousehold({ delivery: { ...WHOLE, uncertainAfterMs: 100 } })
      const { world, ledger, faults } = house.telegram
      const methods = ['sendMessage', 'sendChatAction']
      const outage = methods.map((method) => faults.add({ method, times: Number.POSITIVE_INFINITY, action }))
      const people = [ADA, BOB]
      for (const from of people) world.say({ from, text: 'hello' })
      // Both conversations ask more than once whether sending works before it does.
      for (const chat of people) {
        const asked = ({ params }: { readonly params: Readonly<Record<string, unknown>> }) =>
          params.chat_id === String(chat)
        const first = await ledger.nextCall('sendChatAction', { where: asked })
        await ledger.nextCall('sendChatAction', { where: (call) => asked(call) && call !== first })
      }
      expect(ledger.calls('sendMessage')).toHaveLength(2)
      await house.restart()
      for (const fault of outage) fault.remove()
      const isRepeat = (chat: number) => ({
        where: (sent: { chatId: number; text: string }) => sent.chatId === chat && sent.text === '(repeat) echo hello',
      })
      for (const chat of people) await ledger.nextFromBot('sent', isRepeat(chat))
      await house.daemon.stop()
      const before = action.kind === 'reset' && action.when === 'after' ? ['echo hello'] : []
      for (const chat of people) {
        const seen = world.messages(chat, { by: 'bot' }).map(({ message }) => message.text)
        expect(seen).toEqual([...before, '(repeat) echo hello'])
      }
    },
  )
})
