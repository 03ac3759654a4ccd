// The mail service, played. A real one is handed the key: with it a repeated call sends no second mail.

interface Mail {
  to: { name: string }
  subject: string
  idempotencyKey: string
}

export async function sendMail({ to, subject }: Mail) {
  console.log(`mail to ${to.name}: ${subject}`)
  return { subject }
}
