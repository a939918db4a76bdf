import { Bot } from 'grammy'

/** The bare echo bot of grammY as its guide shows it: nothing stored, one message after another. */
const bot = new Bot(process.env.BOT_TOKEN ?? '', { client: { apiRoot: process.env.API_ROOT ?? '' } })
bot.on('message:text', (ctx) => ctx.reply(`echo ${ctx.message.text}`))
await bot.start()
