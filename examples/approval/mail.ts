// The mail service, played. Whoever gets the mail answers with a `POST /events` (a page's button, or a command).

export async function mail(to: string, text: string) {
  console.log(`mail to ${to}: ${text}`)
  return { to }
}
