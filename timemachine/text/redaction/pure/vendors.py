"""Keys and tokens of more vendors, by the forms that they document for secret scanners.

`docs/decisions.md` says where the forms were compared with those of other scanners.
"""

from typing import Final

_UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
FORMS: Final = (
    (
        "1Password key",
        r"\bops_eyJ[A-Za-z0-9+/=_-]{40,}|\bA3-[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4}\b",
    ),
    ("Adobe secret", r"\bp8e-[A-Za-z0-9]{32}\b"),
    (
        "AI service key",
        (
            r"\b(?:tvly-(?:dev-|prod-)?|fc-|e2b_|lsv2_(?:pt|sk)_|pcsk_|jina_|rpa_|ABSK|bkua_|csk-)[A-Za-z0-9_=+/-]{30,}"
            r"|\bsk_[a-f0-9]{48}\b|\bapi_org_[A-Za-z]{34}\b"
        ),
    ),
    ("Airtable token", r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("Alibaba key", r"\bLTAI[A-Za-z0-9]{12,24}\b"),
    ("Artifactory key", r"\bAKCp[A-Za-z0-9]{65,}|\bcmVmd[A-Za-z0-9]{59}\b"),
    ("Asana token", r"\b[0-9]/[0-9]{16}:[a-f0-9]{32}\b"),
    ("Atlassian token", r"\bAT[AC]TT3[A-Za-z0-9_=-]{20,}|\bATBB[A-Za-z0-9]{24,}"),
    (
        "Authress key",
        r"\b(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}",
    ),
    ("AWS secret key", r"(?i)\baws[^\n]{0,60}?[\"']([0-9A-Za-z/+]{40})[\"']"),
    ("Azure storage key", r"\bAccountKey=([A-Za-z0-9+/=]{86,88})"),
    ("Azure client secret", r"\b[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    ("Brevo key", r"\bx(?:keysib|smtpsib)-[a-f0-9]{60,}-[A-Za-z0-9]{10,}"),
    ("CircleCI token", r"\bCCIPAT_[A-Za-z0-9_]{40,}"),
    ("ClickHouse key", r"\b4b1d[A-Za-z0-9]{38}\b"),
    ("Clojars token", r"\b(?:CLOJARS|clojars)_[A-Za-z0-9]{60}"),
    ("Cloudflare key", r"\bv1\.0-[a-f0-9]{24}-[a-f0-9]{140,}|\bcfut_[A-Za-z0-9]{30,}"),
    ("Contentful token", r"\bCFPAT-[A-Za-z0-9_-]{43}"),
    ("Defined Networking key", r"\bdnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"),
    ("Discord token", r"\b[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}"),
    ("Docker token", r"\bdckr_oat_[A-Za-z0-9_-]{20,}"),
    ("Dropbox token", r"\bsl\.(?:u\.)?[A-Za-z0-9_=-]{100,}"),
    ("Duffel token", r"\bduffel_(?:test|live)_[A-Za-z0-9_=-]{40,}"),
    ("Dynatrace token", r"\bdt0[a-z][0-9]{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    ("EasyPost key", r"\bEZ[AT]K[A-Za-z0-9]{54}"),
    ("Facebook token", r"\bEAA[A-Za-z0-9]{28,}|\b[0-9]{15,16}\|[A-Za-z0-9_-]{27,40}\b"),
    ("Figma token", r"\bfigd_[A-Za-z0-9_-]{30,}"),
    ("Flutterwave key", r"\bFLW(?:SEC|PUB)K(?:_TEST)?-[A-Za-z0-9]{12,32}(?:-X)?\b"),
    ("Fly.io token", r"\bfo1_[A-Za-z0-9_-]{40,}|\bfm(?:1[ar]|2)_[A-Za-z0-9+/=,_-]{40,}"),
    ("Frame.io token", r"\bfio-u-[A-Za-z0-9_=-]{64}"),
    ("GitHub token", r"\bgh[pousr]_[A-Za-z0-9_]{36,}"),
    ("GitLab token", r"\bGR1348941[A-Za-z0-9_-]{20,}"),
    ("Google refresh token", r"\b1//0[A-Za-z0-9_-]{40,}"),
    ("Grafana key", r"\beyJrIjoi[A-Za-z0-9]{60,}={0,2}"),
    ("Harness token", r"\b[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}\b"),
    ("Heroku key", r"\bHRKU-[A-Za-z0-9_-]{36,}"),
    (
        "IBM Cloud key",
        r"(?i)\b(?:cloudant|ibm|softlayer)[\w-]{0,30}?(?:key|pwd|pw|password|pass|token)[\"'\]]{0,2}\s{0,3}[:=]{1,2}>?\s{0,3}[\"']?([A-Za-z0-9_-]{24,64})\b",
    ),
    ("Infracost key", r"\bico-[A-Za-z0-9]{32}\b"),
    ("Linear token", r"\blin_oauth_[a-f0-9]{60,}"),
    ("Lob key", r"\b(?:live|test)_(?:[a-f0-9]{35}|pub_[a-f0-9]{31})\b"),
    ("Mailchimp key", r"\b[0-9a-z]{32}-us[0-9]{1,2}\b"),
    ("MaxMind key", r"\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b"),
    ("Neon key", r"\bnapi_[a-z0-9]{60,}"),
    ("Netlify token", r"\bnf[pcou]_[A-Za-z0-9]{36,}"),
    ("New Relic key", r"\bNR(?:JS-[a-f0-9]{19}|II-[A-Za-z0-9-]{32})"),
    ("Notion token", r"\bsecret_[A-Za-z0-9]{43}\b|\bntn_[A-Za-z0-9]{40,}"),
    ("Octopus key", r"\bAPI-[A-Z0-9]{26}\b"),
    ("OpenShift token", r"\bsha256~[A-Za-z0-9_-]{43}"),
    ("Plaid token", rf"\b(?:access|public|link)-(?:sandbox|development|production)-{_UUID}"),
    ("PlanetScale token", r"\bpscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.=-]{30,}"),
    ("PostHog key", r"\bph[cx]_[A-Za-z0-9]{36,}"),
    ("Postman key", r"\bPMAK-[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34}"),
    ("Prefect key", r"\bpn[ub]_[A-Za-z0-9]{36}\b"),
    ("Pulumi token", r"\bpul-[a-f0-9]{40}"),
    ("ReadMe key", r"\brdme_[a-z0-9]{60,}"),
    ("Render key", r"\brnd_[A-Za-z0-9]{24,}"),
    ("Resend key", r"\bre_[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,}"),
    ("Scalingo token", r"\btk-us-[A-Za-z0-9_-]{48}"),
    ("SettleMint token", r"\bsm_[aps]at_[A-Za-z0-9]{16}\b"),
    ("Shippo token", r"\bshippo_(?:live|test)_[a-fA-F0-9]{40}\b"),
    (
        "Slack token",
        r"(?i)\bxox[a-z]-(?:[0-9]+-)+[a-z0-9]+|\bhooks\.slack\.com/(?:services|workflows|triggers)/[a-z0-9_/+-]{5,}",
    ),
    ("Sourcegraph token", r"\bsgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}"),
    ("Square token", r"\bsq0[a-z]{3}-[A-Za-z0-9_\\-]{22,}|\bEAAA[A-Za-z0-9_-]{22,60}"),
    ("Stripe key", r"\b[sr]k_prod_[A-Za-z0-9]{10,}"),
    ("Supabase key", r"\bsb_(?:secret|publishable)_[A-Za-z0-9_-]{20,}"),
    ("Tailscale key", r"\btskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}"),
    ("Telegram bot token", r"\b(?:bot)?[0-9]{8,10}:[A-Za-z0-9_-]{35}"),
    ("Terraform Cloud token", r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
    ("Twilio key", r"\bSK[0-9a-zA-Z]{32}\b"),
    ("Typeform token", r"\btfp_[A-Za-z0-9_.=-]{40,}"),
    (
        "Yandex key",
        r"\bAQVN[A-Za-z0-9_-]{35,38}|\bYCA[A-Za-z0-9_-]{37,38}|\bt1\.[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{86}={0,2}",
    ),
    ("signature of an address", r"[?&;]sig=([A-Za-z0-9%+/_-]{30,}={0,2})"),
    ("webhook address", r"\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/_-]{40,})"),
)
"""The vendor of each key and its expression. If that has a group, only the group is withheld."""
ANY: Final = "|".join(expression for _, expression in FORMS)
"""What a text has somewhere if any of the forms matches."""
