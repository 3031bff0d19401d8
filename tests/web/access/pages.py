"""Who may open each page (GET) and submit a form to it (POST): one line per route, with `-` for what it does not accept.

- `anyone`: also without signing in. `person`: anyone who is signed in, also before setting up the second factor that the project requires.
- `viewer`, `operator`, `administrator`: members with this role or a higher one.
- `+member`, `+owner`: only for their own project, or of what belongs to them; for others it does not exist.
- `auditor`: who opened the share link; for others it does not exist. `nobody`: there is nothing.
- `machine`: programs on this machine. `key`, `record`: programs with any key, or with a key that has this scope.

`test_matrix` makes every request as everybody in `callers`.
"""

from typing import Final

PAGES: Final = r"""
# programs, monitoring and files for everybody
/health/live                                                             anyone         -
/health/ready                                                            anyone         -
/health/workers                                                          anyone         -
/metrics                                                                 machine        -
/api/openapi.json                                                        anyone         anyone
/api/docs                                                                anyone         anyone
/api/                                                                    nobody         nobody
/mcp                                                                     -              key
/v1/traces                                                               -              record
/v1/logs                                                                 -              record
/v1/<path:signal>                                                        nobody         nobody
/tm_verify.py                                                            anyone         -
/robots.txt                                                              anyone         -
# signing in, and this browser
/sign-in/                                                                anyone         anyone
/sign-in/provider/                                                       anyone         -
/sign-in/provider/answer/                                                anyone         -
/sign-in/second-factor/                                                  anyone         anyone
/sign-in/<str:secret>/                                                   anyone         anyone
/welcome/                                                                person         person
/sign-out/                                                               -              anyone
/appearance/                                                             -              anyone
/project/                                                                -              person+member
/shortcuts/                                                              -              anyone
# settings of a person
/settings/you/                                                           -              viewer
/settings/password/                                                      -              viewer
/settings/second-factor/                                                 person         -
/settings/second-factor/app/                                             person         person
/settings/second-factor/passkey/                                         -              person
/settings/second-factor/codes/                                           -              person
/settings/second-factor/<int:factor_id>/remove/                          -              person+owner
/settings/browsers/sign-out/                                             -              viewer
/settings/browsers/<str:browser_id>/sign-out/                            -              viewer+owner
# settings of the project
/settings/                                                               viewer         -
/settings/project/                                                       -              administrator
/settings/projects/                                                      -              administrator
/settings/members/                                                       -              administrator
/settings/members/<int:member_id>/role/                                  -              administrator
/settings/members/<int:member_id>/remove/                                -              administrator
/settings/members/<int:member_id>/second-factor/remove/                  -              administrator
/settings/members/second-factor/                                         -              administrator
/settings/members/<int:member_id>/reset/                                 -              administrator
/settings/invitations/<int:link_id>/withdraw/                            -              administrator
/settings/answer-cache/switch/                                           -              administrator
/settings/answer-cache/empty/                                            -              administrator
/settings/audit-log/                                                     administrator  -
/settings/audit-log/export/                                              administrator  -
/settings/models/                                                        viewer         -
/settings/models/test/                                                   -              operator
/settings/models/keys/<str:provider>/                                    -              administrator
/settings/models/keys/<str:provider>/remove/                             -              administrator
/settings/models/servers/                                                -              administrator
/settings/models/servers/<str:name>/remove/                              -              administrator
/settings/redaction/                                                     viewer         viewer
/settings/redaction/new/                                                 administrator  administrator
/settings/redaction/<str:id>/                                            viewer         administrator
/settings/redaction/<str:id>/retire/                                     -              administrator
/settings/keys/                                                          -              administrator
/settings/keys/lifetime/                                                 -              administrator
/settings/keys/<str:key_id>/revoke/                                      -              administrator
/demo/                                                                   -              operator
/demo/remove/                                                            -              operator
/settings/compression/                                                   -              administrator
# sessions
/sessions/new/                                                           operator       operator
/sessions/<str:id>/work/                                                 viewer         operator
/sessions/<str:id>/work/put/                                             -              operator
/sessions/<str:id>/work/upload/                                          -              operator
/sessions/<str:id>/work/cancel/<uuid:ask>/                               -              operator
/sessions/<str:id>/end/                                                  -              operator
/sessions/<str:id>/delete/                                               administrator  administrator
/sessions/<str:id>/steps/<int:sequence>/judge/                           -              operator
/sessions/<str:id>/steps/<int:sequence>/judgements/<uuid:judgement>/cancel/ -              operator
/                                                                        viewer         -
/sessions/                                                               anyone         anyone
/sessions/<session:id>/                                                  viewer         operator
/sessions/<session:id>/suggest/                                          viewer         -
/sessions/<session:id>/tail/                                             viewer         -
/sessions/<session:id>/totals/                                           viewer         -
/sessions/<session:id>/notes/                                            viewer         -
/sessions/<session:id>/notes/<uuid:note>/                                viewer         -
/sessions/<session:id>/notes/<uuid:note>/delete/                         -              administrator
/sessions/<session:id>/branches/                                         viewer         -
/sessions/<session:id>/transcript/                                       viewer         -
/sessions/<session:id>/transcript/<str:form>                             viewer         -
/sessions/<session:id>/significance/                                     viewer         -
/sessions/<session:id>/significance/answer/                              -              operator
/sessions/<session:id>/significance/compress/                            -              operator
/sessions/<session:id>/significance/summarise/                           -              operator
/sessions/<session:id>/export/                                           viewer         -
/sessions/<session:id>/export/<str:format_name>                          viewer         -
/sessions/<session:id>/payloads/<sha256:sha256>                          viewer         -
/sessions/<session:id>/payloads/<sha256:sha256>/images/<int:number>      viewer         -
/sessions/<str:id>/hold/                                                 viewer         administrator
/sessions/<str:id>/steps/<int:sequence>/delete/                          administrator  administrator
/sessions/<str:id>/replays/                                              viewer         -
/sessions/<str:id>/replay/                                               operator       operator
/sessions/<str:id>/continue/                                             operator       operator
/sessions/<str:id>/steps/<int:sequence>/trial/                           operator       operator
/sessions/<str:id>/where/                                                viewer         -
/sessions/<str:id>/sweep/                                                operator       operator
/sessions/<str:id>/erase-fields/                                         administrator  administrator
/sessions/<str:id>/evidence/                                             viewer         -
/sessions/<str:id>/evidence/check/                                       -              operator
/sessions/<str:id>/evidence.zip                                          viewer         -
/sessions/<str:id>/share/                                                operator       operator
/sessions/<str:id>/share/look/                                           operator       -
# importing
/import/                                                                 operator       operator
/import/done/                                                            viewer         -
/imports/<str:id>/                                                       viewer         -
# collections
/collections/                                                            viewer         operator
/collections/<str:name>/                                                 viewer         -
/collections/<str:name>/embedding/                                       viewer         administrator
/collections/<str:name>/put/                                             -              operator
/collections/<str:name>/upload/                                          -              operator
/collections/<str:name>/frames/<int:number>/                             viewer         -
/collections/<str:name>/frames/<int:number>/update/                      -              operator
/collections/<str:name>/frames/<int:number>/delete/                      -              operator
/collections/<str:name>/frames/<int:number>/versions/<int:version>.txt   viewer         -
/collections/<str:name>/sources/<str:id>/                                viewer         -
/collections/<str:name>/sources/<str:id>/original                        viewer         -
/intakes/<str:id>/                                                       viewer         -
/intakes/<str:id>/dismiss/                                               -              operator
# insights
/training/                                                               viewer         -
/training/pairs.jsonl                                                    viewer         -
/go/                                                                     viewer         -
/search/                                                                 viewer         -
/recall/                                                                 viewer         -
/patterns/                                                               viewer         -
/patterns/rules/                                                         -              operator
/patterns/rules/<str:id>/delete/                                         -              operator
/patterns/alerts/<str:id>/seen/                                          -              operator
/patterns/<str:id>/                                                      viewer         -
/costs/                                                                  viewer         -
# replays
/sweeps/                                                                 viewer         -
/sweeps/<str:id>/                                                        viewer         -
/sweeps/<str:id>/cancel/                                                 -              operator
/replays/                                                                viewer         -
/replays/<str:id>/                                                       viewer         -
/replays/<str:id>/continue/                                              operator       operator
/replays/<str:id>/cancel/                                                -              operator
/replays/<str:id>/retry/                                                 -              operator
/replays/<str:id>/steps/<int:sequence>/                                  viewer         -
/replays/<str:id>/evidence/                                              viewer         -
/replays/<str:id>/evidence/check/                                        -              operator
/replays/<str:id>/evidence.zip                                           viewer         -
/replays/<str:id>/share/look/                                            operator       -
/replays/<str:id>/share/                                                 operator       operator
# comparisons
/compare/                                                                viewer         -
/compare/steps/                                                          viewer         -
/comparisons/                                                            viewer         -
/comparisons/new/                                                        operator       operator
/comparisons/<str:id>/                                                   viewer         -
/comparisons/<str:id>/export.<str:form>                                  viewer         -
/comparisons/<str:id>/cancel/                                            -              operator
/comparisons/<str:id>/retry/                                             -              operator
/comparisons/<str:id>/judge/                                             -              operator
/comparisons/<str:id>/cells/<int:step>/                                  viewer         operator
/comparisons/<str:id>/evidence/                                          viewer         -
/comparisons/<str:id>/evidence/check/                                    -              operator
/comparisons/<str:id>/evidence.zip                                       viewer         -
/comparisons/<str:id>/share/look/                                        operator       -
/comparisons/<str:id>/share/                                             operator       operator
# suites
/suites/                                                                 viewer         -
/suites/new/                                                             operator       operator
/suites/<str:id>/                                                        viewer         -
/suites/<str:id>/edit/                                                   operator       operator
/suites/<str:id>/run/                                                    -              operator
/suites/<str:id>/delete/                                                 operator       operator
/suites/<str:id>/runs/<int:number>/                                      viewer         -
/suites/<str:id>/runs/<int:number>/cancel/                               -              operator
# evidence
/evidence/                                                               viewer         -
/settings/evidence-log.zip                                               administrator  -
/settings/evidence-key/                                                  administrator  administrator
/settings/evidence-anchors/                                              -              administrator
# retention, deletion, legal holds
/settings/retention/                                                     viewer         administrator
/settings/retention/<str:id>/remove/                                     -              administrator
/forgettings/new/                                                        -              administrator
/forgettings/<str:id>/                                                   administrator  -
/forgettings/<str:id>/confirm/                                           -              administrator
/forgettings/<str:id>/cancel/                                            -              administrator
/holds/new/                                                              administrator  administrator
/holds/<str:id>/                                                         viewer         -
/holds/<str:id>/release/                                                 -              administrator
/erasures/<str:id>/                                                      administrator  -
/erasures/<str:id>/confirm/                                              -              administrator
# share links, for members
/shares/                                                                 viewer         -
/shares/revoke/                                                          operator       operator
/settings/sharing/                                                       viewer         administrator
/shares/<uuid:link_id>/                                                  viewer         -
/shares/<uuid:link_id>/revoke/                                           -              operator
# what auditors open
/share/<str:token>                                                       anyone         anyone
/share/<str:public_id>/                                                  auditor        -
/share/<str:public_id>/steps/<int:sequence>/                             auditor        -
/share/<str:public_id>/cells/<int:step>/                                 auditor        -
/share/<str:public_id>/payloads/<str:sha256>/                            auditor        -
/share/<str:public_id>/payloads/<str:sha256>/images/<int:number>         auditor        -
/share/<str:public_id>/print/                                            auditor        -
/share/<str:public_id>/print.css                                         auditor        -
/share/<str:public_id>/certificate/                                      auditor        -
/share/<str:public_id>/verify/                                           anyone         -
/share/<str:public_id>/evidence.zip                                      auditor        -
/^share(?:/.*)?$                                                         nobody         nobody
"""
