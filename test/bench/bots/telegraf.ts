import { Telegraf } from 'telegraf'
import { message } from 'telegraf/filters'

/** The bare echo bot of telegraf as its guide shows it: nothing stored, a batch of updates side by side. */
const bot = new Telegraf(process.env.BOT_TOKEN ?? '', { telegram: { apiRoot: process.env.API_ROOT ?? '' } })
bot.on(message('text'), (ctx) => ctx.reply(`echo ${ctx.message.text}`))
await bot.launch()
